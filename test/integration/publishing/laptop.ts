/** A machine that publishes servers, as the gateway sees it: the frames of `edgeway publish`, without processes. */

import {
  type FrameToCommand,
  type FrameToGateway,
  PONG,
  PUBLISH_PROTOCOL,
  readFrameToCommand,
  writeFrame,
} from "../../../src/protocol/publishing.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";

/** A message on a channel, as a local server reads it from its stdin. */
export interface Received extends Json {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Json & { readonly _meta?: Json };
}

/** What a local server does with a message: it may answer it, later or never. */
export type LocalServer = (message: Received, channel: LaptopChannel) => void;

export interface LaptopChannel {
  readonly id: string;
  /** Writes a line to stdout. */
  say(message: Json | string): void;
  /** The process ends. */
  exit(code: number): void;
}

/** Waits without an end: the tests have their own. */
class Waiters {
  #waiting: (() => void)[] = [];

  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

export class Laptop {
  /** The frames of the gateway, in order. */
  readonly frames: FrameToCommand[] = [];
  /** The messages for local servers, in order. */
  readonly received: Received[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #socket: WebSocket;
  readonly #servers = new Map<string, LocalServer>();
  readonly #texts: string[] = [];
  readonly #waiters = new Waiters();

  /** @param socket of the response to `dial`. */
  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#waiters.wake();
    });
    socket.accept();
  }

  /** Offers a server. @throws Error when the gateway refuses it. */
  async publish(...offer: Parameters<Laptop["offer"]>): Promise<FrameToCommand> {
    const answer = await this.offer(...offer);
    if (answer.t === "refused") throw new Error(`Refused: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Offers a server. @returns the gateway's answer. */
  async offer(
    name: string,
    server: LocalServer,
    hello: Partial<Extract<FrameToGateway, { t: "hello" }>> = {},
  ): Promise<FrameToCommand> {
    this.#servers.set(name, server);
    const before = this.frames.length;
    this.send({
      ...{ t: "hello", v: 1, name, generation: crypto.randomUUID() },
      ...{ info: { host: "laptop", version: "1.0.0" }, share: false },
      ...hello,
    });
    const answer = (): FrameToCommand | undefined => this.frames.slice(before).find(isAnswer);
    await this.#waiters.until(() => answer() !== undefined || this.closed !== undefined);
    const found = answer();
    if (found === undefined) throw new Error(`Closed: ${JSON.stringify(this.closed)}`);
    return found;
  }

  send(frame: FrameToGateway | string): void {
    this.#socket.send(typeof frame === "string" ? frame : writeFrame(frame));
  }

  /** Waits for a message to a local server. */
  async receives(isIt: (message: Received) => boolean): Promise<Received> {
    await this.#waiters.until(() => this.received.some(isIt));
    return this.received.find(isIt) as Received;
  }

  /** Waits for a frame of the gateway. */
  async sees(isIt: (frame: FrameToCommand) => boolean): Promise<void> {
    await this.#waiters.until(() => this.frames.some(isIt));
  }

  /** Waits for the end of the connection. */
  async ends(): Promise<{ readonly code: number; readonly reason: string }> {
    await this.#waiters.until(() => this.closed !== undefined);
    return this.closed as { readonly code: number; readonly reason: string };
  }

  /** The connection breaks. */
  break(): void {
    this.#socket.close(1001, "the lid is closed");
  }

  /** The channels that are open, of all servers. */
  get channels(): readonly string[] {
    const open = new Set<string>();
    for (const frame of this.frames) {
      if (frame.t === "open") open.add(frame.channel);
      if (frame.t === "close") open.delete(frame.channel);
    }
    return [...open];
  }

  /** Waits for a text that is no frame. */
  async hears(text: string): Promise<void> {
    await this.#waiters.until(() => this.#texts.includes(text));
  }

  #take(text: string): void {
    if (text === PONG) {
      this.#texts.push(text);
      this.#waiters.wake();
      return;
    }
    const frame = readFrameToCommand(text);
    if (frame === undefined) throw new Error(`No frame: ${text}`);
    this.frames.push(frame);
    if (frame.t === "message") this.#deliver(frame);
    this.#waiters.wake();
  }

  #deliver({ name, channel, body }: Extract<FrameToCommand, { t: "message" }>): void {
    const message = JSON.parse(body) as Received;
    this.received.push(message);
    this.#servers.get(name)?.(message, {
      id: channel,
      say: (said) => {
        const text = typeof said === "string" ? said : JSON.stringify({ jsonrpc: "2.0", ...said });
        this.send({ t: "message", name, channel, body: text });
      },
      exit: (code) => this.send({ t: "closed", name, channel, reason: "exit", code }),
    });
  }
}

function isAnswer({ t }: FrameToCommand): boolean {
  return t === "welcome" || t === "refused";
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** @param headers with the token, where there is sign-in. */
function dial(send: Send, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return send("/publish", {
    headers: { Upgrade: "websocket", "Sec-WebSocket-Protocol": PUBLISH_PROTOCOL, ...headers },
  });
}

export async function connectLaptop(
  send: Send,
  headers: Readonly<Record<string, string>> = {},
): Promise<Laptop> {
  const response = await dial(send, headers);
  if (response.webSocket === null) {
    throw new Error(`Not connected: ${response.status} ${await response.text()}`);
  }
  return new Laptop(response.webSocket);
}
