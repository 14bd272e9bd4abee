/**
 * A machine that publishes a server of its person's, as `edgeway publish` does: it dials again whenever the
 * connection ends, except where another process has the name; what ran then is lost, and never repeated.
 */

import {
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
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { TOOL } from "./tool.ts";

export interface LaptopHabits {
  /** Whose it is. */
  readonly person: number;
  readonly era: "legacy" | "modern";
  /** The longest pause before its server does the next thing, in milliseconds. */
  readonly pauseMs: number;
  /** When it is switched on, in milliseconds from the start. */
  readonly startMs: number;
}

export const PUBLISHED = "files";

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** Its client may have to come back first. */
const LOST_MS = 60_000;
const CACHE = { ttlMs: 60_000, cacheScope: "private" };

export class Laptop extends Actor {
  readonly habits: LaptopHabits;
  readonly #ledger: Ledger;
  readonly #door: Door;
  /** The processes of the server: each has what it was asked and has not answered. */
  readonly #channels = new Map<string, Set<unknown>>();
  /** The calls that run. */
  readonly #calls = new Set<string>();
  #socket: SimulatedSocket | undefined;
  /** Since when the gateway serves it, in milliseconds since 1970; `undefined` while it does not. */
  welcomeAt: number | undefined;
  /** Another process has the name. */
  isReplaced = false;

  constructor(
    world: World,
    name: string,
    habits: LaptopHabits,
    parts: { readonly ledger: Ledger; readonly door: Door },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#door = parts.door;
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
    this.#socket = undefined;
    this.welcomeAt = undefined;
    this.#channels.clear();
    const lost = [...this.#calls];
    this.#calls.clear();
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
    const generation = `g-${this.world.scheduler.number("generation")}`;
    const hello = { t: "hello", v: PUBLISH_VERSION, name: PUBLISHED, generation } as const;
    this.#send({ ...hello, info, share: false });
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
    else if (frame.t === "refused") this.#ledger.find(`${this.name} is refused: ${frame.message}`);
    else if (frame.t === "open") this.#channels.set(frame.channel, new Set());
    else if (frame.t === "close") this.#channels.delete(frame.channel);
    else if (frame.t === "message") this.#deliver(frame.channel, JSON.parse(frame.body) as Json);
  }

  #deliver(channel: string, message: Json): void {
    const running = this.#channels.get(channel);
    if (running === undefined) return;
    const { id, method, params } = message as { id?: unknown; method?: string; params?: Json };
    if (method === "notifications/cancelled") running.delete(params?.["requestId"]);
    if (id === undefined || method === undefined) return;
    running.add(id);
    if (method === "tools/call") {
      void this.#work({ channel, id, running, params: params ?? {} });
      return;
    }
    const result = this.#answer(method, params ?? {});
    const error = { code: -32601, message: "Method not found" };
    this.#say(channel, { id, ...(result === undefined ? { error } : { result }) });
  }

  #answer(method: string, params: Json): Json | undefined {
    const isModern = this.habits.era === "modern";
    const done = isModern ? { resultType: "complete", ...CACHE } : {};
    const capabilities = { tools: {} };
    const serverInfo = { name: this.name, version: "1" };
    switch (method) {
      case "initialize":
        return isModern
          ? undefined
          : { protocolVersion: params["protocolVersion"], capabilities, serverInfo };
      case "server/discover":
        return isModern
          ? { ...done, supportedVersions: ["2026-07-28"], capabilities, serverInfo }
          : undefined;
      case "tools/list":
        return { ...done, tools: [TOOL] };
      case "ping":
        return {};
      default:
        return undefined;
    }
  }

  async #work(call: {
    readonly channel: string;
    readonly id: unknown;
    readonly running: Set<unknown>;
    readonly params: Json;
  }): Promise<void> {
    const { channel, id, running, params } = call;
    const given = params["arguments"] as { readonly call: string; readonly events: number };
    const progressToken = (params["_meta"] as Json | undefined)?.["progressToken"];
    this.#ledger.ran(given.call, undefined, `p${this.habits.person}`);
    this.#calls.add(given.call);
    for (let count = 0; count <= given.events; count += 1) {
      await this.sleep(this.upTo(this.habits.pauseMs));
      // Its process is gone, or its client has cancelled.
      if (this.#channels.get(channel) !== running) return;
      if (!running.has(id)) {
        this.#calls.delete(given.call);
        return;
      }
      if (count === given.events) break;
      const message = `${given.call}/${count}`;
      this.#ledger.sent(given.call, message);
      const progress = { progressToken, progress: count + 1, message };
      this.#say(channel, { method: "notifications/progress", params: progress });
    }
    const done = this.habits.era === "modern" ? { resultType: "complete" } : {};
    const content = [{ type: "text", text: given.call }];
    this.#say(channel, { id, result: { ...done, content } });
    running.delete(id);
    this.#calls.delete(given.call);
  }

  #say(channel: string, message: Json): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#send({ t: "message", name: PUBLISHED, channel, body });
  }
}
