/** A person's object without a platform: machines that connect to it, and what it tells others. */

import {
  type FrameToCommand,
  type FrameToGateway,
  readFrameToCommand,
  writeFrame,
} from "../../../src/protocol/publishing.ts";
import type { Connection, Offline } from "../../../src/publishing/connector-options.ts";
import { Connector } from "../../../src/publishing/connector.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import type { SqlFixture } from "../lib/sql-fixture.ts";

/** The connection of one process of the command, as a test looks at it. */
export class Machine implements Connection {
  readonly id: string;
  readonly leases: readonly string[];
  readonly openedAt: number;
  seenAt: number;
  /** The frames that the gateway has sent. */
  readonly frames: FrameToCommand[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(id: string, leases: readonly string[], now: number) {
    this.id = id;
    this.leases = leases;
    this.openedAt = now;
    this.seenAt = now;
  }

  send(text: string): void {
    const frame = readFrameToCommand(text);
    if (frame === undefined) throw new Error(`No frame: ${text}`);
    this.frames.push(frame);
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  /** The messages for its local servers. */
  get messages(): readonly Json[] {
    return this.frames.flatMap((frame) => {
      return frame.t === "message" ? [JSON.parse(frame.body) as Json] : [];
    });
  }

  /** The channels that were opened, in order. */
  get channels(): readonly string[] {
    return this.frames.flatMap((frame) => (frame.t === "open" ? [frame.channel] : []));
  }
}

interface Heard {
  listed: number;
  readonly states: { readonly slug: string; readonly offline: Offline | undefined }[];
  readonly gone: string[];
}

/** One life of the object: what is stored outlasts it, and so do the connections that are handed to the next one. */
export class Life {
  readonly connector: Connector;
  readonly machines: Machine[];
  readonly heard: Heard = { listed: 0, states: [], gone: [] };
  /** Whether the feeds of servers can be reached. */
  isFeedThere = true;
  readonly #fixture: SqlFixture;
  #work: Promise<unknown>[] = [];

  constructor(fixture: SqlFixture, machines: readonly Machine[] = [], isOn = true) {
    this.#fixture = fixture;
    this.machines = [...machines];
    this.connector = new Connector({
      ...{ sql: fixture.sql, isOn, windowBytes: 65_536 },
      connectionOf: (id) => this.machines.find((one) => one.id === id && one.closed === undefined),
      randomId: () => crypto.randomUUID(),
      now: () => fixture.clock.now,
      onListed: () => (this.heard.listed += 1),
      onState: (slug, offline) => this.heard.states.push({ slug, offline }),
      onGone: async (slug) => {
        if (!this.isFeedThere) throw new Error("The feed is out of reach");
        this.heard.gone.push(slug);
      },
      waitUntil: (work) => this.#work.push(work),
    });
  }

  /** What goes on beside the answers has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#work);
  }

  connect(...leases: readonly string[]): Machine {
    const id = crypto.randomUUID();
    const machine = new Machine(id, leases, this.#fixture.clock.now);
    this.machines.push(machine);
    return machine;
  }

  /** A machine says something. */
  says(machine: Machine, frame: FrameToGateway): void {
    machine.seenAt = this.#fixture.clock.now;
    this.connector.receive(machine, writeFrame(frame));
  }

  hello(machine: Machine, name: string, hello: Partial<Hello> = {}): void {
    this.says(machine, {
      ...{ t: "hello", v: 1, name, generation: machine.id },
      ...{ info: { host: "laptop", version: "1.0.0" }, share: false },
      ...hello,
    });
  }

  /** The local server answers the request that came last. */
  answers(machine: Machine, name: string, result: Json): void {
    const frame = machine.frames.findLast(({ t }) => t === "message");
    if (frame?.t !== "message") throw new Error("Nothing was asked");
    const { id } = JSON.parse(frame.body) as Json;
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    this.says(machine, { t: "message", name, channel: frame.channel, body });
  }

  /** A request of the gateway's connectors. */
  post(
    name: string,
    message: Json,
    session?: string,
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const headers = session === undefined ? {} : { "Mcp-Session-Id": session };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const request = new Request(URL_OF, { method: "POST", headers, body, signal });
    return this.connector.serve(name, request);
  }

  request(name: string, method: "GET" | "DELETE" | "PUT", session?: string): Promise<Response> {
    const headers = session === undefined ? {} : { "Mcp-Session-Id": session };
    return this.connector.serve(name, new Request(URL_OF, { method, headers }));
  }

  /** Opens a session. @returns its id. */
  async session(machine: Machine, name: string): Promise<string> {
    const response = await this.post(name, { id: 0, method: "initialize", params: {} });
    this.answers(machine, name, { protocolVersion: "2025-11-25" });
    await response.text();
    return response.headers.get("Mcp-Session-Id") ?? "";
  }
}

type Hello = Extract<FrameToGateway, { t: "hello" }>;

const URL_OF = "http://published.internal/person/name";

/** The messages of a stream that has ended. */
export async function messagesOf(response: Response): Promise<readonly Json[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json);
}

/** The error of the one answer that a response has. */
export async function errorOf(response: Response): Promise<string> {
  const answers = response.headers.get("content-type")?.includes("json")
    ? [(await response.json()) as Json]
    : await messagesOf(response);
  const [{ error } = {}] = answers.slice(-1) as { error?: { message: string } }[];
  return error?.message ?? JSON.stringify(answers);
}
