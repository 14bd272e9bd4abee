/**
 * A client of the session era: it calls, answers questions, and takes up streams that broke, as patiently as
 * the official SDKs do, or at once.
 */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { answerTo, questionIn } from "./question.ts";
import type { ServerFacts } from "./server-facts.ts";
import { LegacySession, readMessages, type ReadResult } from "./legacy-session.ts";
import { LegacySubscriber } from "./legacy-subscriber.ts";
import type { SubscribeHabits } from "./subscriber.ts";

export interface LegacyClientHabits extends SubscribeHabits {
  readonly era: "legacy";
  readonly revision: string;
  /** The longest pause before it takes up a stream, in milliseconds. */
  readonly reconnectMs: number;
  /** Opens the standalone GET stream. */
  readonly listens: boolean;
  readonly calls: number;
  readonly events: number;
  /** The characters by which each event is longer. */
  readonly text?: number;
  /** Makes its calls at once, and not one after another. */
  readonly isHasty: boolean;
  /** The longest pause between two calls, in milliseconds. */
  readonly restMs: number;
  /** Deletes its session at the end. */
  readonly deletes: boolean;
  /** Numbers its calls from 1, as others do: two clients then have requests of the same ids. */
  readonly numbers?: boolean;
  /** Cancels some of its calls while they run. */
  readonly cancels?: boolean;
  /** Opens a second standalone stream, as one whose network has changed does, and keeps the first. */
  readonly listensTwice?: boolean;
}

interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: Json;
}

export class LegacyClient extends Actor {
  readonly habits: LegacyClientHabits;
  readonly #ledger: Ledger;
  readonly #server: ServerFacts;
  readonly #session: LegacySession;
  readonly #subscriber: LegacySubscriber | undefined;
  /** Those who wait for an answer, by the id of their request. */
  readonly #waiting = new Map<unknown, (answer: Json) => void>();
  /** The calls that it has given up, by name. */
  readonly #cancelled = new Set<string>();
  /** Those that it was asked, by the ids of their requests. */
  readonly #questions = new Map<unknown, string>();
  /** Of events on the standalone stream. */
  readonly #seen = new Set<string>();
  isDone = false;

  constructor(
    world: World,
    name: string,
    habits: LegacyClientHabits,
    parts: { readonly ledger: Ledger; readonly server: ServerFacts; readonly door: Door },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#server = parts.server;
    this.#session = new LegacySession(parts.door);
    if (habits.subscribes !== undefined) {
      const ask = (method: string, params: Json): Promise<Json | undefined> =>
        this.#ask(method, params);
      this.#subscriber = new LegacySubscriber(this, habits, { ...parts, ask });
    }
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    do await this.sleep(this.upTo(1000));
    while (!this.#server.isReady());
    await this.#initialize();
    if (this.habits.listens || this.#subscriber !== undefined) {
      void this.#listen();
      if (this.habits.listensTwice === true) void this.#listenAgain();
    }
    const subscribed = this.#subscriber?.live();
    const calls = Array.from({ length: this.habits.calls }, (_, index) => index);
    if (this.habits.isHasty) await Promise.all(calls.map((index) => this.#call(index)));
    else
      for (const index of calls) {
        await this.sleep(this.upTo(this.habits.restMs));
        await this.#call(index);
      }
    await this.sleep(this.upTo(this.habits.restMs));
    await subscribed;
    if (this.habits.deletes) await this.#session.delete().catch(() => undefined);
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
        if (await this.#session.initialize(params)) break;
      } catch {
        // The network: again.
      }
      await this.sleep(1000);
    }
    const { "mcp-session-id": id = "" } = this.#session.headers;
    const { revision } = this.habits;
    this.#ledger.has({ kind: "session", client: this.name, id, revision });
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    await this.#session.post(initialized).catch(() => undefined);
  }

  async #listenAgain(): Promise<void> {
    await this.sleep(this.upTo(5000));
    await this.#listen();
  }

  /** Holds the standalone stream, and takes it up for as long as the client lives. */
  async #listen(): Promise<void> {
    let last: string | undefined;
    const since = this.world.scheduler.now;
    const { changes, quotas } = this.#ledger;
    changes.left(this.name);
    for (let tries = 0; tries < 200 && !this.isDone; tries += 1) {
      try {
        quotas?.opens(this.name);
        const response = await this.#session.get(last);
        if (response.status !== 200) {
          this.note(`its standalone stream is answered ${response.status}`);
          const isGone = response.status === 404 && this.#server.mayBeUnknown;
          if (isGone || response.status >= 500) await this.sleep(1000);
          else {
            // With a clock that jumps, the events after its place are over.
            const text = await response.text();
            const isLost = quotas?.mayLosePlace(this.name, since, text) === true;
            if (last === undefined || !(this.#ledger.hasClockJumped || isLost)) break;
            last = undefined;
          }
        } else {
          this.#subscriber?.listens();
          const awayMs = changes.returned(this.name);
          if (quotas?.isForgotten(awayMs) === true) changes.mayBeToldAgain(this.name);
          if (tries > 0) changes.listensAgain(this.name);
          // It had no event id yet, or has none that is good: what it was not told, nobody can say.
          if (tries > 0 && last === undefined) this.#subscriber?.hasMissed();
          last = (await this.#readStandalone(response)).lastEventId ?? last;
          changes.left(this.name);
        }
      } catch {
        // Broken before its head.
      }
      await this.sleep(this.upTo(this.habits.reconnectMs));
    }
    changes.returned(this.name);
  }

  #hasPlace(lastEventId: string): void {
    const { "mcp-session-id": id = "" } = this.#session.headers;
    const { revision } = this.habits;
    this.#ledger.has({ kind: "place", client: this.name, id, revision, lastEventId });
  }

  #readStandalone(response: Response): Promise<ReadResult> {
    return readMessages(response, (message, eventId) => {
      if (eventId !== undefined && this.#seen.has(eventId))
        this.#ledger.find(`${this.name} got the event ${eventId} twice`);
      if (eventId !== undefined) this.#seen.add(eventId);
      return this.#take(message, undefined);
    });
  }

  /** Asks for what may be asked for again. @returns `undefined` where there is no result. */
  async #ask(method: string, params: Json): Promise<Json | undefined> {
    this.#ledger.quotas?.opens(this.name);
    const id = `${this.name}:${this.world.scheduler.number(this.name)}`;
    let answer: Json | undefined;
    this.#waiting.set(id, (message) => (answer = message));
    try {
      const response = await this.#session.post({ jsonrpc: "2.0", id, method, params });
      if (response.status === 200) await this.#read(response, id);
    } catch {
      // It broke.
    }
    this.#waiting.delete(id);
    return answer?.["result"] as Json | undefined;
  }

  async #call(index: number): Promise<void> {
    const name = `${this.name}.${index}`;
    const { isKept, prefix, name: server } = this.#server;
    const id = this.habits.numbers === true ? index + 1 : name;
    const started = { name, client: this.name, server, canResume: true, isKept };
    this.#ledger.begin({ ...started, startedAt: this.world.scheduler.now });
    this.#ledger.quotas?.opens(this.name);
    const { events, text = 0 } = this.habits;
    const count = { call: name, events: this.world.random.below(events + 1) };
    const given = text === 0 ? count : { ...count, text };
    const params = {
      name: `${prefix}work`,
      arguments: given,
      _meta: { progressToken: id },
    };
    this.#waiting.set(id, (answer) => {
      if (!this.#cancelled.has(name)) this.#ledger.gotAnswer(name, answer);
    });
    this.#ledger.has({ kind: "request", client: this.name, id });
    if (this.habits.cancels === true && this.world.random.chance(0.4)) void this.#cancel(name, id);
    let last: string | undefined;
    try {
      const body = { jsonrpc: "2.0", id, method: "tools/call", params };
      const response = await this.#session.post(body);
      if (await this.#isRefused(name, response)) return;
      const read = await this.#read(response, id);
      if (read.isOver) return;
      last = read.lastEventId;
    } catch (error) {
      this.note(`${name} broke: ${String(error)}`);
    }
    if (this.#cancelled.has(name)) return;
    if (last === undefined) {
      this.#ledger.ended(name, "unknown");
      return;
    }
    await this.#resume(name, id, last);
  }

  /** Gives a call up, unless it has its answer. */
  async #cancel(name: string, id: unknown): Promise<void> {
    await this.sleep(this.upTo(1500));
    if (this.#ledger.isOver(name)) return;
    this.#cancelled.add(name);
    this.#ledger.ended(name, "cancelled");
    const params = { requestId: id };
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    await this.#session.post(cancelled).catch(() => undefined);
  }

  async #resume(name: string, id: unknown, from: string): Promise<void> {
    let last = from;
    for (;;) {
      await this.sleep(this.upTo(this.habits.reconnectMs));
      if (this.#cancelled.has(name)) return;
      this.#hasPlace(last);
      try {
        const response = await this.#session.get(last);
        if (await this.#isRefused(name, response)) return;
        const read = await this.#read(response, id);
        if (read.isOver) return;
        last = read.lastEventId ?? last;
      } catch {
        // Broken before its head, or in a refusal: again.
      }
    }
  }

  /** @throws Error when the refusal breaks before its end: it is no answer then. */
  async #isRefused(name: string, response: Response): Promise<boolean> {
    if (response.status === 200) return false;
    const text = await response.text();
    if (response.status >= 500) return false;
    if (this.#cancelled.has(name)) return true;
    this.#ledger.ended(name, "error", `${response.status} ${text}`);
    return true;
  }

  #read(response: Response, id: unknown): Promise<ReadResult> {
    return readMessages(response, (message) => this.#take(message, id));
  }

  /** @returns true for the answer to the call. */
  #take(message: Json, call: unknown): boolean {
    const { method, id, params } = message as unknown as Asked;
    this.note(`gets ${JSON.stringify(message)}`);
    if (method === "notifications/progress") {
      this.#ledger.arrived(this.name, String(params["message"]));
      if (params["progressToken"] !== call) {
        this.#ledger.find(`${this.name} got "${String(params["message"])}" on another stream`);
      }
    } else if (method === "elicitation/create") {
      void this.#answer(id, questionIn(params["message"]));
    } else if (method === "notifications/cancelled") {
      const question = this.#questions.get(params["requestId"]);
      if (question !== undefined) this.#ledger.withdrawn(question);
    } else if (method === undefined && id === call && call !== undefined) {
      this.#waiting.get(id)?.(message);
      return true;
    } else if (method !== undefined) this.#subscriber?.take(method, params);
    return false;
  }

  async #answer(id: unknown, question: string): Promise<void> {
    this.#questions.set(id, question);
    this.#ledger.shown(question);
    this.#ledger.has({ kind: "question", client: this.name, id });
    await this.sleep(this.upTo(500));
    const result = answerTo(question);
    for (let tries = 0; tries < 20; tries += 1) {
      try {
        const { status } = await this.#session.post({ jsonrpc: "2.0", id, result });
        if (status === 202) this.#ledger.question(question).isAccepted = true;
        if (status < 500) return;
      } catch {
        // Not known whether it arrived: again.
      }
      await this.sleep(this.upTo(this.habits.reconnectMs));
    }
  }
}
