/**
 * Publishes servers of this machine: one WebSocket to the gateway for all of them, dialled again whenever it breaks.
 * What ran then is lost and never repeated: the gateway answers it with an error, and all channels are over.
 */

import { pauseMs } from "../../src/lib/backoff.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { unlessAborted } from "../../src/lib/unless-aborted.ts";
import {
  type FrameToCommand,
  type FrameToGateway,
  PING,
  PING_EVERY_MS,
  PONG,
  PONG_WITHIN_MS,
  PUBLISH_VERSION,
  PublishClose,
  readFrameToCommand,
  writeFrame,
} from "../../src/protocol/publishing.ts";
import { Broken, NotReached } from "../http/failures.ts";
import type { Credentials } from "../http/gateway.ts";
import type { Closed, WebSocketConnection } from "../websocket/web-socket.ts";
import { dialGateway, Fatal } from "./dial-gateway.ts";
import type { LocalServer } from "./local-server.ts";
import { PublishedServer } from "./published-server.ts";

export interface PublisherOptions {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly servers: readonly LocalServer[];
  /** One process serves all channels of a server. */
  readonly isShared: boolean;
  /** A channel without anything to do for so long is closed, in milliseconds. */
  readonly idleMs: number;
  /** What the gateway shows of this machine. */
  readonly info: { readonly host: string; readonly version: string };
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
}

const PAUSES = { firstMs: 1000, maxMs: 30_000 } as const;
/** After a connection that lasted so long, the pauses begin anew. */
const LASTING_MS = 10_000;
/** The first start may wait for a person to sign in. */
const LOGIN_MS = 600_000;
const TICK_MS = 5000;
/** What runs when the gateway goes away may end within this time. */
const DRAIN_MS = 10_000;
/** What the network has not taken is held in the pipes of the processes. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export class Publisher {
  readonly #options: PublisherOptions;
  /** Also those that the gateway has refused meanwhile: the command ends once their processes have. */
  readonly #all: readonly PublishedServer[];
  /** Those that are offered, by name. */
  readonly #servers: Map<string, PublishedServer>;
  /** The gateway tells a process that dials again from another one. */
  readonly #generation = crypto.randomUUID();
  #socket: WebSocketConnection | undefined;
  #hasBeenWelcome = false;
  /** Why dialling once more would not help. */
  #fatal: Fatal | undefined;
  /** The gateway has refused one of several servers on this connection, and may close that for it. */
  #hasRefusal = false;
  #pongAt = 0;
  #pingAt = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#all = options.servers.map((server) => this.#publishedServer(server));
    this.#servers = new Map(this.#all.map((server) => [server.name, server]));
  }

  /** Resolves when it is stopped. @throws Fatal; LoginNeeded; FolderError. */
  async run(stop: AbortSignal): Promise<void> {
    const ticks = setInterval(() => this.#tick(), Math.min(TICK_MS, this.#options.idleMs));
    try {
      for (let failures = 0; !stop.aborted; failures++) {
        const begunAt = Date.now();
        const reason = await this.#connect(stop);
        if (stop.aborted) return;
        if (Date.now() - begunAt > LASTING_MS) failures = 0;
        const pause = pauseMs(PAUSES, failures) * (0.5 + Math.random() / 2);
        this.#options.notice(`${reason}; dialling again in ${Math.ceil(pause / 1000)} s`);
        await sleep(pause, stop).catch(() => undefined);
      }
    } finally {
      clearInterval(ticks);
      await this.#closeAll();
    }
  }

  /** Dials, and serves until the connection ends. @returns why it did. */
  async #connect(stop: AbortSignal): Promise<string> {
    const { url, credentials } = this.#options;
    const deadline = this.#hasBeenWelcome ? 0 : performance.now() + LOGIN_MS;
    const onText = (text: string): void => this.#receive(text);
    let socket: WebSocketConnection;
    try {
      socket = await unlessAborted(dialGateway(url, credentials, deadline, onText, stop), stop);
    } catch (error) {
      if (stop.aborted) return "";
      if (!(error instanceof NotReached || error instanceof Broken)) throw error;
      return `${url.origin} cannot be reached (${error.message})`;
    }
    this.#socket = socket;
    this.#hasRefusal = false;
    this.#pongAt = this.#pingAt = Date.now();
    socket.onDrain(() => this.#hold(false));
    for (const server of this.#servers.values()) this.#offer(server);
    const onStop = (): void => this.#leave(socket);
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
    const closed = await socket.closed;
    stop.removeEventListener("abort", onStop);
    this.#socket = undefined;
    // None of them stays: a gateway that is back opens channels of its own.
    void this.#closeAll();
    if (!stop.aborted) this.#judge(closed);
    return `the connection to ${url.origin} has ended (${closed.reason || `code ${closed.code}`})`;
  }

  /** @throws Fatal where the gateway does not want this process any more. */
  #judge({ code, reason }: Closed): void {
    if (this.#fatal !== undefined) throw this.#fatal;
    // The gateway knows of no other, for they are offline or about to be offered.
    if (this.#hasRefusal) return;
    const names = [...this.#servers.keys()].join(" or ");
    if (code === PublishClose.replaced) {
      throw new Fatal(`another process publishes ${names} now, so that this one ends`);
    }
    if (code === PublishClose.revoked) {
      throw new Fatal(reason || `${this.#options.url.origin} does not let you publish any more`);
    }
  }

  #leave(socket: WebSocketConnection): void {
    for (const name of this.#servers.keys()) this.#send({ t: "bye", name });
    socket.close();
  }

  #offer(server: PublishedServer): void {
    const { name, isShared: share, isOffline } = server;
    const { info } = this.#options;
    if (isOffline) return;
    this.#send({ t: "hello", v: PUBLISH_VERSION, name, generation: this.#generation, info, share });
  }

  #receive(text: string): void {
    if (text === PONG) {
      this.#pongAt = Date.now();
      return;
    }
    const frame = readFrameToCommand(text);
    if (frame !== undefined) this.#take(frame);
  }

  #take(frame: FrameToCommand): void {
    switch (frame.t) {
      case "welcome":
        this.#welcomed(frame.name, frame.slug);
        return;
      case "refused":
        this.#refused(frame);
        return;
      case "open":
        this.#servers.get(frame.name)?.open(frame.channel);
        return;
      case "message":
        this.#servers.get(frame.name)?.deliver(frame.channel, frame.body);
        return;
      case "close":
        this.#servers.get(frame.name)?.close(frame.channel);
        return;
      case "drain":
        void this.#drain();
    }
  }

  #welcomed(name: string, slug: string): void {
    this.#hasBeenWelcome = true;
    const { url, notice } = this.#options;
    notice(`${name} is published as ${slug}: ${url.origin}/mcp/${slug}`);
  }

  /** Others stay published; without any there is nothing to wait for. */
  #refused({ name, message }: Extract<FrameToCommand, { t: "refused" }>): void {
    void this.#servers.get(name)?.closeAll();
    this.#servers.delete(name);
    if (this.#servers.size === 0) {
      this.#fatal = new Fatal(`${name} is not published: ${message}`);
      this.#socket?.close();
    } else {
      this.#hasRefusal = true;
      this.#options.notice(`${name} is not published: ${message}`);
    }
  }

  /** Dials again once nothing runs: what runs is answered as long as the connection lives. */
  async #drain(): Promise<void> {
    const socket = this.#socket;
    const endAt = Date.now() + DRAIN_MS;
    const isBusy = (): boolean => [...this.#servers.values()].some(({ calls }) => calls > 0);
    while (isBusy() && Date.now() < endAt) await sleep(100);
    socket?.close();
  }

  #tick(): void {
    for (const server of this.#servers.values()) server.closeIdle(this.#options.idleMs);
    const now = Date.now();
    // By the wall clock: after a laptop has slept, the other end has long given up.
    if (now - this.#pongAt > PONG_WITHIN_MS) this.#socket?.abandon();
    if (now - this.#pingAt < PING_EVERY_MS) return;
    this.#pingAt = now;
    this.#socket?.send(PING);
  }

  #send(frame: FrameToGateway): void {
    this.#socket?.send(writeFrame(frame));
    if ((this.#socket?.waiting ?? 0) > MAX_WAITING_BYTES) this.#hold(true);
  }

  #hold(isHeld: boolean): void {
    for (const server of this.#servers.values()) server.hold(isHeld);
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.closeAll()));
  }

  #publishedServer(server: LocalServer): PublishedServer {
    const { name } = server;
    const { isShared, notice } = this.#options;
    const published: PublishedServer = new PublishedServer({
      server,
      isShared,
      notice,
      onMessage: (channel, body) => this.#send({ t: "message", name, channel, body }),
      onClosed: (channel, { reason, ...how }) =>
        this.#send({ t: "closed", name, channel, reason, ...how }),
      onOffline: (ms) => {
        setTimeout(() => {
          // Its person may have ended it meanwhile.
          if (this.#servers.get(name) !== published) return;
          published.revive();
          this.#offer(published);
        }, ms).unref();
      },
    });
    return published;
  }
}
