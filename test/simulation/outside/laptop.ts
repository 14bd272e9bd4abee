/**
 * A machine that publishes a server of its person's, as `edgeway publish` does: it dials again whenever the
 * connection ends, except where another process has the name; what ran then is lost, and never repeated.
 */

import {
  type FrameToCommand,
  type FrameToGateway,
  PING,
  PING_EVERY_MS,
  PONG,
  PONG_WITHIN_MS,
  PUBLISH_PATH,
  PUBLISH_PROTOCOL,
  PUBLISH_VERSION,
  PublishClose,
  readFrameToCommand,
  writeFrame,
} from "../../../src/protocol/publishing.ts";
import { Context } from "../platform/context.ts";
import type { Connection } from "../platform/network.ts";
import type { IsolateResponse } from "../platform/request-response.ts";
import type { SimulatedSocket } from "../platform/sockets.ts";
import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Changing } from "./changing.ts";
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { LocalServer, type LocalServerHabits } from "./local-server.ts";

export interface LaptopHabits extends LocalServerHabits {
  /** Whose it is. */
  readonly person: number;
  /** When it is switched on, in milliseconds from the start. */
  readonly startMs: number;
}

export const PUBLISHED = "files";

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** Its client may have to come back first. */
const LOST_MS = 60_000;

export class Laptop extends Actor {
  readonly habits: LaptopHabits;
  readonly #ledger: Ledger;
  readonly #door: Door;
  readonly #server: LocalServer;
  /** Of its process. */
  #generation = "";
  #socket: SimulatedSocket | undefined;
  /** Since when the gateway serves it, in milliseconds since 1970; `undefined` while it does not. */
  welcomeAt: number | undefined;
  /** Another process has the name. */
  isReplaced = false;

  constructor(
    world: World,
    name: string,
    habits: LaptopHabits,
    parts: { readonly ledger: Ledger; readonly door: Door; readonly changing: Changing },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#door = parts.door;
    const say = (channel: string, message: Json): void => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      this.#send({ t: "message", name: PUBLISHED, channel, body });
    };
    this.#server = new LocalServer(this, habits, { ...parts, say });
  }

  /** Something has changed at its server. @param uri of a resource. */
  announce(method: string, uri?: string): void {
    this.#server.announce(method, uri);
  }

  start(): void {
    this.context.run(() => void this.#live(this.habits.startMs));
  }

  override restart(): void {
    super.restart();
    this.#door.forget();
    this.#gone();
    this.isReplaced = false;
    this.context.run(() => void this.#live(0));
  }

  async #live(startMs: number): Promise<void> {
    this.#generation = `g-${this.world.scheduler.number("generation")}`;
    await this.sleep(startMs);
    for (let failures = 0; !this.isReplaced; failures += 1) {
      const begunAt = this.world.scheduler.now;
      const code = await this.#connect().catch((error: unknown) => {
        this.note(`cannot dial: ${String(error)}`);
        return 1006;
      });
      this.#gone();
      this.note(`its connection ends with ${code}`);
      if (code === PublishClose.replaced) this.isReplaced = true;
      if (code === PublishClose.revoked || code === PublishClose.mistake)
        this.#ledger.find(`${this.name} is sent away with ${code}`);
      if (this.world.scheduler.now - begunAt > 10_000) failures = 0;
      await this.sleep(this.upTo(Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS)));
    }
  }

  #gone(): void {
    // A server that comes back may have changed meanwhile, which its clients are told.
    if (this.welcomeAt !== undefined) this.#ledger.changes.gap("every");
    this.#socket = undefined;
    this.welcomeAt = undefined;
    const lost = this.#server.end();
    if (lost.length > 0) this.#lost(lost);
  }

  /** What ran is over for its client, too, and not only when its time is up. */
  #lost(calls: readonly string[]): void {
    const { scheduler } = this.world;
    const late = (): void => {
      for (const name of calls) {
        if (this.#ledger.calls.get(name)?.ends.length !== 0) continue;
        this.#ledger.find(`${name} goes on ${LOST_MS} ms after its machine was lost`);
      }
    };
    const label = `${this.name}: what ran was lost a while ago`;
    scheduler.post(`lost ${scheduler.number("lost")}`, label, late, LOST_MS);
  }

  /** @returns the code with which the connection ended. */
  async #connect(): Promise<number> {
    const headers = { upgrade: "websocket", "sec-websocket-protocol": PUBLISH_PROTOCOL };
    const response = await this.#door.request(PUBLISH_PATH, { headers });
    const { webSocket: socket } = response as IsolateResponse;
    if (socket === null) throw new Error(`${response.status} ${await response.text()}`);
    const { open } = this.world.network;
    const { promise: closed, resolve } = Promise.withResolvers<number>();
    const { context } = this;
    const connection: Connection = {
      label: `${this.name} → ${socket.label}`,
      cut: () => {
        socket.drop();
        context.post(connection.label, `${connection.label}: found cut`, () => resolve(1006));
      },
    };
    open.add(connection);
    const forget = context.onEnd(() => open.delete(connection));
    let heardAt = this.world.scheduler.now;
    socket.addEventListener("message", ({ data }) => {
      heardAt = this.world.scheduler.now;
      if (data !== PONG) this.#take(String(data));
    });
    socket.addEventListener("close", ({ code = 1006 }) => resolve(code));
    socket.accept();
    this.#socket = socket;
    const info = { host: this.name, version: "1.0.0" };
    const hello = { t: "hello", v: PUBLISH_VERSION, name: PUBLISHED } as const;
    const generation = this.#generation;
    this.#send({ ...hello, generation, info, share: false });
    const pings = Context.current().setTimer(
      () => {
        if (this.world.scheduler.now - heardAt > PONG_WITHIN_MS) connection.cut();
        else this.#sendText(PING);
      },
      PING_EVERY_MS,
      true,
    );
    const code = await closed;
    Context.current().clearTimer(pings);
    forget();
    open.delete(connection);
    return code;
  }

  #send(frame: FrameToGateway): void {
    this.#sendText(writeFrame(frame));
  }

  #sendText(text: string): void {
    try {
      this.#socket?.send(text);
    } catch {
      // It is closing.
    }
  }

  #take(text: string): void {
    this.note(`gets ${text}`);
    const frame = readFrameToCommand(text);
    if (frame === undefined) this.#ledger.find(`${this.name} got no frame: ${text}`);
    else if (frame.t === "welcome") this.welcomeAt = this.world.scheduler.now;
    else if (frame.t === "refused") this.#refused(frame);
    else if (frame.t === "open") this.#server.open(frame.channel);
    else if (frame.t === "close") this.#server.close(frame.channel);
    else if (frame.t === "message")
      this.#server.deliver(frame.channel, JSON.parse(frame.body) as Json);
  }

  /** As the command ends that publishes nothing else. */
  #refused({ code, message }: Extract<FrameToCommand, { t: "refused" }>): void {
    this.isReplaced = code === "name";
    if (this.isReplaced) this.#socket?.close(1000);
    else this.#ledger.find(`${this.name} is refused: ${message}`);
  }
}
