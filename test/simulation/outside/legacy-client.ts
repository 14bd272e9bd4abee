/**
 * A client of the session era: it calls, answers questions, and takes up streams that broke, as patiently as
 * the official SDKs do, or at once.
 */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Ledger } from "./ledger.ts";
import type { ServerFacts } from "./server-facts.ts";
import { eventReader, isEventStream, type ServerSentEvent } from "./sse.ts";

export interface LegacyClientHabits {
  readonly era: "legacy";
  readonly revision: string;
  /** The longest pause before it takes up a stream, in milliseconds. */
  readonly reconnectMs: number;
  /** Opens the standalone GET stream. */
  readonly listens: boolean;
  readonly calls: number;
  readonly events: number;
  /** Makes its calls at once, and not one after another. */
  readonly isHasty: boolean;
  /** The longest pause between two calls, in milliseconds. */
  readonly restMs: number;
  /** Deletes its session at the end. */
  readonly deletes: boolean;
}

const ENDPOINT = "http://localhost:8787/mcp";

interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: Json;
}

export class LegacyClient extends Actor {
  readonly habits: LegacyClientHabits;
  readonly #ledger: Ledger;
  readonly #server: ServerFacts;
  #headers: Record<string, string> = {};
  isDone = false;

  constructor(
    world: World,
    name: string,
    habits: LegacyClientHabits,
    parts: { readonly ledger: Ledger; readonly server: ServerFacts },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#server = parts.server;
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    await this.sleep(this.upTo(1000));
    await this.#initialize();
    if (this.habits.listens) void this.#listen();
    const calls = Array.from({ length: this.habits.calls }, (_, index) => index);
    if (this.habits.isHasty) await Promise.all(calls.map((index) => this.#call(index)));
    else
      for (const index of calls) {
        await this.sleep(this.upTo(this.habits.restMs));
        await this.#call(index);
      }
    await this.sleep(this.upTo(this.habits.restMs));
    if (this.habits.deletes) {
      const init = { method: "DELETE", headers: this.#headers };
      await this.world.request(ENDPOINT, init).catch(() => undefined);
    }
    this.isDone = true;
  }

  async #initialize(): Promise<void> {
    const params = {
      protocolVersion: this.habits.revision,
      capabilities: { elicitation: {} },
      clientInfo: { name: this.name, version: "1" },
    };
    for (;;) {
      try {
        const response = await this.#post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
        if (response.status === 200) {
          await response.text();
          const session = response.headers.get("mcp-session-id") ?? "";
          this.#headers = {
            "mcp-session-id": session,
            "mcp-protocol-version": this.habits.revision,
          };
          break;
        }
      } catch {
        // The network: again.
      }
      await this.sleep(1000);
    }
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    await this.#post(initialized).catch(() => undefined);
  }

  #post(body: Json): Promise<Response> {
    const headers = {
      ...this.#headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return this.world.request(ENDPOINT, { method: "POST", headers, body: JSON.stringify(body) });
  }

  #get(lastEventId?: string): Promise<Response> {
    const place = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const headers = { ...this.#headers, accept: "text/event-stream", ...place };
    return this.world.request(ENDPOINT, { method: "GET", headers });
  }

  /** Holds the standalone stream, and takes it up for as long as the client lives. */
  async #listen(): Promise<void> {
    let last: string | undefined;
    for (let tries = 0; tries < 200 && !this.isDone; tries += 1) {
      try {
        const response = await this.#get(last);
        if (response.status !== 200) return;
        last = (await this.#read(response, undefined)).lastEventId ?? last;
      } catch {
        // Broken before its head.
      }
      await this.sleep(this.upTo(this.habits.reconnectMs));
    }
  }

  async #call(index: number): Promise<void> {
    const name = `${this.name}.${index}`;
    const { isKept, prefix, name: server } = this.#server;
    const started = { name, client: this.name, server, canResume: true, isKept };
    this.#ledger.begin({ ...started, startedAt: this.world.scheduler.now });
    const given = { call: name, events: this.world.random.below(this.habits.events + 1) };
    const params = {
      name: `${prefix}work`,
      arguments: given,
      _meta: { progressToken: name },
    };
    let last: string | undefined;
    try {
      const body = { jsonrpc: "2.0", id: name, method: "tools/call", params };
      const response = await this.#post(body);
      if (await this.#isRefused(name, response)) return;
      const read = await this.#read(response, name);
      if (read.isOver) return;
      last = read.lastEventId;
    } catch (error) {
      this.note(`${name} broke: ${String(error)}`);
    }
    if (last === undefined) {
      this.#ledger.ended(name, "unknown");
      return;
    }
    await this.#resume(name, last);
  }

  async #resume(name: string, from: string): Promise<void> {
    let last = from;
    for (;;) {
      await this.sleep(this.upTo(this.habits.reconnectMs));
      try {
        const response = await this.#get(last);
        if (await this.#isRefused(name, response)) return;
        const read = await this.#read(response, name);
        if (read.isOver) return;
        last = read.lastEventId ?? last;
      } catch {
        // Broken before its head: again.
      }
    }
  }

  async #isRefused(name: string, response: Response): Promise<boolean> {
    if (response.status === 200) return false;
    const text = await response.text().catch(() => "");
    if (response.status >= 500) return false;
    this.#ledger.ended(name, "error", `${response.status} ${text}`);
    return true;
  }

  /** Reads a stream, or one body, until it ends or breaks. */
  async #read(
    response: Response,
    call: string | undefined,
  ): Promise<{ readonly isOver: boolean; readonly lastEventId?: string | undefined }> {
    if (!isEventStream(response)) {
      const text = await response.text();
      return { isOver: this.#take(JSON.parse(text) as Json, call) };
    }
    let lastEventId: string | undefined;
    let isOver = false;
    const take = (event: ServerSentEvent): void => {
      if (event.id !== undefined) lastEventId = event.id;
      if (event.data !== "") isOver = this.#take(JSON.parse(event.data) as Json, call) || isOver;
    };
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const eventsIn = eventReader();
    try {
      for (;;) {
        const { done, value = "" } = (await reader?.read()) ?? { done: true };
        if (done) break;
        for (const event of eventsIn(value)) take(event);
        if (isOver) break;
      }
    } catch {
      // The stream broke: what came counts.
    }
    if (isOver) void reader?.cancel().catch(() => undefined);
    return { isOver, lastEventId };
  }

  /** @returns true for the answer to the call. */
  #take(message: Json, call: string | undefined): boolean {
    const { method, id, params } = message as unknown as Asked;
    this.note(`gets ${JSON.stringify(message)}`);
    if (method === "notifications/progress") {
      this.#ledger.arrived(this.name, String(params["progressToken"]), String(params["message"]));
      if (params["progressToken"] !== call) {
        this.#ledger.find(`${this.name} got "${String(params["message"])}" on another stream`);
      }
    } else if (method === "elicitation/create")
      void this.#answer(id, questionIn(params["message"]));
    else if (method === undefined && id === call && call !== undefined) {
      const { error } = message as { error?: { message: string } };
      this.#ledger.ended(call, error === undefined ? "result" : "error", error?.message);
      return true;
    }
    return false;
  }

  async #answer(id: unknown, question: string): Promise<void> {
    this.#ledger.shown(question);
    await this.sleep(this.upTo(500));
    const result = { action: "accept", content: { value: "yes" } };
    for (let tries = 0; tries < 20; tries += 1) {
      try {
        const { status } = await this.#post({ jsonrpc: "2.0", id, result });
        if (status === 202) this.#ledger.question(question).isAccepted = true;
        if (status < 500) return;
      } catch {
        // Not known whether it arrived: again.
      }
      await this.sleep(this.upTo(this.habits.reconnectMs));
    }
  }
}

/** At an endpoint of several servers, the gateway says who asks. */
function questionIn(message: unknown): string {
  return String(message).replace(/^\[\w+\] /, "");
}
