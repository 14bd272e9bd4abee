/** A client of 2026-07-28: it calls, and comes back with its answers in the next round. */

import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { answerTo, questionIn } from "./question.ts";
import { sendModern } from "./modern-request.ts";
import { ModernSubscriber } from "./modern-subscriber.ts";
import type { ServerFacts } from "./server-facts.ts";
import { eventReader, isEventStream } from "./sse.ts";
import type { SubscribeHabits } from "./subscriber.ts";

export interface ModernClientHabits extends SubscribeHabits {
  readonly era: "modern";
  /** The longest pause before its next round, in milliseconds. */
  readonly reconnectMs: number;
  readonly calls: number;
  readonly events: number;
  /** Makes its calls at once, and not one after another. */
  readonly isHasty: boolean;
  /** The longest pause between two calls, in milliseconds. */
  readonly restMs?: number;
  /** Numbers its calls from 1, as others do: two clients then have requests of the same ids. */
  readonly numbers?: boolean;
}

const TRIES = 5;

interface Reply extends Json {
  readonly result?: {
    readonly resultType: string;
    readonly requestState?: string;
    readonly inputRequests?: Readonly<Record<string, { readonly params: Json }>>;
  };
  readonly error?: { readonly message: string };
}

export class ModernClient extends Actor {
  readonly habits: ModernClientHabits;
  isDone = false;
  readonly #ledger: Ledger;
  readonly #server: ServerFacts;
  readonly #door: Door;
  readonly #subscriber: ModernSubscriber | undefined;
  #lastId = 0;

  constructor(
    world: World,
    name: string,
    habits: ModernClientHabits,
    parts: { readonly ledger: Ledger; readonly server: ServerFacts; readonly door: Door },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#server = parts.server;
    this.#door = parts.door;
    if (habits.subscribes !== undefined) {
      const send = (method: string, params: Json): Promise<Response> => this.#post(method, params);
      this.#subscriber = new ModernSubscriber(this, habits, { ...parts, send });
    }
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    do await this.sleep(this.upTo(1000));
    while (!this.#server.isReady());
    const subscribed = this.#subscriber?.live();
    const calls = Array.from({ length: this.habits.calls }, (_, index) => index);
    if (this.habits.isHasty) await Promise.all(calls.map((index) => this.#call(index)));
    else
      for (const index of calls) {
        if (this.habits.restMs !== undefined) await this.sleep(this.upTo(this.habits.restMs));
        await this.#call(index);
      }
    await subscribed;
    this.isDone = true;
  }

  async #call(index: number): Promise<void> {
    const name = `${this.name}.${index}`;
    const { name: server, isKept, isModern } = this.#server;
    this.#ledger.begin({
      ...{ name, client: this.name, server, isKept, canResume: false },
      startedAt: this.world.scheduler.now,
    });
    const events = this.world.random.below(this.habits.events + 1);
    let round: Json = {};
    for (let tries = 0; tries < TRIES;) {
      this.#ledger.attempt(name);
      const token = this.habits.numbers === true ? index + 1 : name;
      const reply = await this.#send({ name, token, events, round });
      const given = Object.keys(round["inputResponses"] ?? {});
      if (reply === undefined) {
        // The first round may have run. A later one is known by its state, unless its server forgets.
        if (round["requestState"] === undefined || isModern) break;
        tries += 1;
      } else if (reply.result?.resultType !== "input_required") {
        this.#ledger.gotAnswer(name, reply);
        return;
      } else round = await this.#answers(reply.result, given.length > 0);
      await this.sleep(this.upTo(this.habits.reconnectMs));
    }
    this.#ledger.ended(name, "unknown");
  }

  /** @param hasAnswered the round before had answers, which were taken. */
  async #answers(
    { requestState, inputRequests = {} }: NonNullable<Reply["result"]>,
    hasAnswered: boolean,
  ): Promise<Json> {
    const asked = Object.entries(inputRequests);
    for (const [, { params }] of asked) {
      const question = questionIn(params["message"]);
      if (hasAnswered) this.#ledger.shown(question);
      else this.#ledger.shownAgain(question);
    }
    await this.sleep(this.upTo(500));
    const answers = asked.map(([key, { params }]) => [
      key,
      answerTo(questionIn(params["message"])),
    ]);
    return { requestState, inputResponses: Object.fromEntries(answers) as Json };
  }

  /** @returns `undefined` when the connection broke before the reply. */
  async #send({
    name,
    token,
    events,
    round,
  }: {
    readonly name: string;
    readonly token: unknown;
    readonly events: number;
    readonly round: Json;
  }): Promise<Reply | undefined> {
    const tool = `${this.#server.prefix}work`;
    try {
      const params = {
        ...{ name: tool, arguments: { call: name, events }, ...round },
        _meta: { progressToken: token },
      };
      if (round["requestState"] !== undefined)
        this.#ledger.has({ kind: "round", client: this.name, params });
      return await this.#read(await this.#post("tools/call", params));
    } catch (error) {
      this.note(`${name} broke: ${String(error)}`);
      return undefined;
    }
  }

  #post(method: string, params: Json): Promise<Response> {
    this.#lastId += 1;
    return sendModern(this.#door, { client: this.name, id: this.#lastId, method, params });
  }

  async #read(response: Response): Promise<Reply | undefined> {
    if (!isEventStream(response)) {
      const text = await response.text();
      this.note(`gets ${response.status} ${text}`);
      return JSON.parse(text) as Reply;
    }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const eventsIn = eventReader();
    for (;;) {
      const { done, value = "" } = (await reader?.read()) ?? { done: true };
      if (done) return undefined;
      for (const { data } of eventsIn(value)) {
        if (data === "") continue;
        this.note(`gets ${data}`);
        const message = JSON.parse(data) as Json;
        if (message["method"] === undefined) return message;
        if (message["method"] !== "notifications/progress") continue;
        const params = message["params"] as Json;
        this.#ledger.arrived(this.name, String(params["message"]));
      }
    }
  }
}
