/** A machine that publishes one server without a process: the command's own connection, and answers made here. */

import { randomUUID } from "node:crypto";

import { dial } from "../../cli/websocket/dial.ts";
import { WebSocketConnection } from "../../cli/websocket/web-socket.ts";
import {
  type FrameToGateway,
  MAX_BODY_BYTES,
  PING,
  PONG,
  PUBLISH_PATH,
  PUBLISH_PROTOCOL,
  PUBLISH_VERSION,
  readFrameToCommand,
  writeFrame,
} from "../../src/protocol/publishing.ts";
import type { Json } from "./clients-face.ts";
import { until } from "./until.ts";

const TIMEOUT_MS = 60_000;
/** The command does so every 20 seconds. */
const PING_EVERY_MS = 5000;

export class LaptopByHand {
  readonly name: string;
  readonly #socket: WebSocketConnection;
  readonly #pings: NodeJS.Timeout;
  /** The pings that were answered. */
  pongs = 0;
  /** The calls that came. */
  calls = 0;

  private constructor(name: string, socket: WebSocketConnection) {
    this.name = name;
    this.#socket = socket;
    this.#pings = setInterval(() => socket.send(PING), PING_EVERY_MS);
  }

  /** Publishes a server of 2026-07-28 with one tool, `say`. @param key of whose server it is. */
  static async publish(gateway: string, key: string, name: string): Promise<LaptopByHand> {
    const texts: string[] = [];
    let take = (text: string): void => void texts.push(text);
    const answer = await dial({
      url: new URL(PUBLISH_PATH, gateway),
      headers: { authorization: `Bearer ${key}` },
      subprotocol: PUBLISH_PROTOCOL,
      maxBytes: MAX_BODY_BYTES,
      timeoutMs: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      onText: (text) => take(text),
    });
    if (!(answer instanceof WebSocketConnection)) throw new Error(`Refused: ${answer.body}`);
    const laptop = new LaptopByHand(name, answer);
    const info = { host: "laptop", version: "1.0.0" };
    laptop.send({
      ...{ t: "hello", v: PUBLISH_VERSION, name, generation: randomUUID() },
      ...{ info, share: false },
    });
    await until(() => texts.some((text) => text.includes('"welcome"')), `a welcome for ${name}`);
    take = (text) => laptop.#take(text);
    return laptop;
  }

  send(frame: FrameToGateway): void {
    this.#socket.send(writeFrame(frame));
  }

  close(): void {
    clearInterval(this.#pings);
    this.#socket.close();
  }

  #take(text: string): void {
    if (text === PONG) this.pongs += 1;
    const frame = readFrameToCommand(text);
    if (frame?.t !== "message") return;
    const { id, method } = JSON.parse(frame.body) as Json;
    if (method === "tools/call") this.calls += 1;
    if (id === undefined) return;
    const result = RESULTS[String(method)];
    const answer = result === undefined ? { error: UNKNOWN } : { result };
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
    this.send({ t: "message", name: frame.name, channel: frame.channel, body });
  }
}

const UNKNOWN = { code: -32601, message: "Method not found" };
const CACHED = { resultType: "complete", ttlMs: 3_600_000, cacheScope: "public" };
const RESULTS: Readonly<Record<string, Json>> = {
  "server/discover": {
    ...CACHED,
    ...{ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "by hand", version: "1.0.0" } },
  },
  "tools/list": { ...CACHED, tools: [{ name: "say", inputSchema: { type: "object" } }] },
  "tools/call": { resultType: "complete", content: [{ type: "text", text: "said" }] },
};
