/**
 * A client of 2024-11-05: one stream carries everything, and is the session. When it breaks, what was asked on it
 * has no answer, and the client begins anew.
 */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { answerTo, questionIn } from "./question.ts";
import type { ServerFacts } from "./server-facts.ts";
import { eventReader } from "./sse.ts";

export interface SseClientHabits {
  readonly era: "sse";
  readonly calls: number;
  readonly events: number;
  /** Makes its calls at once, and not one after another. */
  readonly isHasty: boolean;
  /** The longest pause between two calls, in milliseconds. */
  readonly restMs: number;
  /** Numbers its calls from 1, as others do: two clients then have requests of the same ids. */
  readonly numbers?: boolean;
}

const REVISION = "2024-11-05";

/** One stream, and those who wait for an answer on it. */
interface Session {
  readonly path: string;
  readonly waiting: Map<unknown, (answer: Json | undefined) => void>;
  isOver: boolean;
}

export class SseClient extends Actor {
  readonly habits: SseClientHabits;
  readonly #ledger: Ledger;
  readonly #server: ServerFacts;
  readonly #door: Door;
  #session: Promise<Session> | undefined;
  isDone = false;

  constructor(
    world: World,
    name: string,
    habits: SseClientHabits,
    parts: { readonly ledger: Ledger; readonly server: ServerFacts; readonly door: Door },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#server = parts.server;
    this.#door = parts.door;
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    do await this.sleep(this.upTo(1000));
    while (!this.#server.isReady());
    const calls = Array.from({ length: this.habits.calls }, (_, index) => index);
    if (this.habits.isHasty) await Promise.all(calls.map((index) => this.#call(index)));
    else
      for (const index of calls) {
        await this.sleep(this.upTo(this.habits.restMs));
        await this.#call(index);
      }
    this.isDone = true;
  }

  async #call(index: number): Promise<void> {
    const session = await this.#opened();
    const name = `${this.name}.${index}`;
    const { prefix, name: server } = this.#server;
    this.#ledger.begin({
      ...{ name, client: this.name, server, canResume: true, isKept: false },
      startedAt: this.world.scheduler.now,
    });
    const given = { call: name, events: this.world.random.below(this.habits.events + 1) };
    const id = this.habits.numbers === true ? index + 1 : name;
    const _meta = { progressToken: id };
    const params = { name: `${prefix}work`, arguments: given, _meta };
    const answer = await this.#ask(session, { id, method: "tools/call", params });
    if (answer === undefined) this.#ledger.ended(name, "unknown");
    else this.#ledger.gotAnswer(name, answer);
  }

  /** @returns a session that is ready, in the place of one that broke. */
  async #opened(): Promise<Session> {
    for (;;) {
      this.#session ??= this.#open();
      const session = await this.#session.catch(() => undefined);
      if (session?.isOver === false) return session;
      this.#session = undefined;
      await this.sleep(500);
    }
  }

  async #open(): Promise<Session> {
    const headers = { accept: "text/event-stream" };
    const response = await this.#door.request("/sse", { headers });
    if (response.status !== 200) throw new Error(`${response.status}`);
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    void this.#read(response, resolve).finally(() => reject(new Error("The stream broke")));
    const session = await promise;
    const params = {
      protocolVersion: REVISION,
      capabilities: { elicitation: {} },
      clientInfo: { name: this.name, version: "1" },
    };
    await this.#ask(session, { id: `${this.name}-0`, method: "initialize", params });
    await this.#post(session, { method: "notifications/initialized" }).catch(() => undefined);
    return session;
  }

  async #read(response: Response, opened: (session: Session) => void): Promise<void> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const eventsIn = eventReader();
    let session: Session | undefined;
    try {
      for (;;) {
        const { done, value = "" } = (await reader?.read()) ?? { done: true };
        if (done) break;
        for (const { data } of eventsIn(value)) {
          if (session !== undefined) this.#take(session, JSON.parse(data) as Json);
          else {
            session = { path: data, waiting: new Map(), isOver: false };
            this.#ledger.has({ kind: "address", client: this.name, path: data });
            opened(session);
          }
        }
      }
    } catch {
      // It broke, and the session with it.
    }
    if (session === undefined) return;
    session.isOver = true;
    for (const lose of session.waiting.values()) lose(undefined);
  }

  #take(session: Session, message: Json): void {
    this.note(`gets ${JSON.stringify(message)}`);
    const { method, id, params } = message as { method?: string; id?: unknown; params?: Json };
    if (method === "notifications/progress") {
      this.#ledger.arrived(this.name, String(params?.["message"]));
    } else if (method === "elicitation/create") {
      const { message: text } = params as { message: string };
      void this.#answer(session, id, questionIn(text));
    } else if (method === undefined) session.waiting.get(id)?.(message);
  }

  async #answer(session: Session, id: unknown, question: string): Promise<void> {
    this.#ledger.shown(question);
    await this.sleep(this.upTo(500));
    const result = answerTo(question);
    while (!session.isOver) {
      try {
        const { status } = await this.#post(session, { id, result });
        if (status === 202) this.#ledger.question(question).isAccepted = true;
        if (status < 500) return;
      } catch {
        // Not known whether it arrived: again.
      }
      await this.sleep(500);
    }
  }

  /** @returns `undefined` when the stream broke before the answer. */
  #ask(session: Session, message: Json): Promise<Json | undefined> {
    if (session.isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      session.waiting.set(message["id"], resolve);
      this.#post(session, message).then(
        ({ status }) => {
          if (status !== 202) resolve({ error: { message: `${status}` } });
        },
        // Whether it arrived is not known.
        () => resolve(undefined),
      );
    });
  }

  async #post({ path }: Session, message: Json): Promise<Response> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const response = await this.#door.request(path, { method: "POST", headers, body });
    await response.text();
    return response;
  }
}
