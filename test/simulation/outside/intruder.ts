/**
 * A client that tries what belongs to others, and then something invented of the same shape: it must not learn
 * which is which, and must not get, change or end anything.
 */

import type { World } from "../platform/world.ts";
import { Actor } from "./actor.ts";
import type { Belonging } from "./belongings.ts";
import type { Door } from "./door.ts";
import type { Ledger } from "./ledger.ts";
import { LegacySession, sessionHeaders } from "./legacy-session.ts";
import { sendModern } from "./modern-request.ts";

export interface IntruderHabits {
  readonly person: number;
  readonly tries: number;
  /** The longest pause between two of them, in milliseconds. */
  readonly pauseMs: number;
}

/** What an attempt was answered; `undefined` where it broke, or the gateway was not itself. */
type Answer = string | undefined;

const REVISION = "2025-06-18";
const READ_MS = 2000;
/** Names of calls: the intruder has made none. */
const CALL = /client\d+\.\d+/;

export class Intruder extends Actor {
  readonly habits: IntruderHabits;
  readonly #ledger: Ledger;
  readonly #door: Door;
  readonly #session: LegacySession;

  constructor(
    world: World,
    name: string,
    habits: IntruderHabits,
    parts: { readonly ledger: Ledger; readonly door: Door },
  ) {
    super(world, name);
    this.habits = habits;
    this.#ledger = parts.ledger;
    this.#door = parts.door;
    this.#session = new LegacySession(parts.door);
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  async #live(): Promise<void> {
    await this.sleep(this.upTo(1000));
    const params = {
      protocolVersion: REVISION,
      capabilities: { elicitation: {} },
      clientInfo: { name: this.name, version: "1" },
    };
    while (!(await this.#session.initialize(params).catch(() => false))) await this.sleep(1000);
    for (let tries = 0; tries < this.habits.tries;) {
      await this.sleep(this.upTo(this.habits.pauseMs));
      const { belongings } = this.#ledger;
      // What came last is in use, most probably.
      const recent = belongings.slice(this.world.random.chance(0.7) ? -3 : 0);
      if (recent.length === 0) continue;
      tries += 1;
      const belonging = this.world.random.pick(recent);
      for (const attempt of this.#attempts(belonging)) await this.#compare(belonging, attempt);
    }
  }

  async #compare(
    belonging: Belonging,
    attempt: (belonging: Belonging) => Promise<Answer>,
  ): Promise<void> {
    const { kind, client } = belonging;
    this.note(`tries the ${kind} of ${client}`);
    const theirs = await attempt(belonging).catch(() => undefined);
    const invented = await attempt(inventedFor(belonging)).catch(() => undefined);
    if (theirs === undefined || invented === undefined || theirs === invented) return;
    this.#ledger.find(
      `${this.name} tells the ${kind} of ${client} from an invented one: ${theirs}, not ${invented}`,
    );
  }

  /** What can be tried with a belonging. */
  #attempts({ kind }: Belonging): readonly ((belonging: Belonging) => Promise<Answer>)[] {
    switch (kind) {
      case "session":
        return [
          (theirs) => this.#list(theirs),
          (theirs) => this.#take(theirs),
          (theirs) => this.#delete(theirs),
        ];
      case "place":
        return [(theirs) => this.#take(theirs), (theirs) => this.#takeInOwn(theirs)];
      case "request":
        return [(theirs) => this.#cancel(theirs)];
      case "question":
        return [(theirs) => this.#answer(theirs)];
      case "round":
        return [(theirs) => this.#goOn(theirs)];
      case "address":
        return [(theirs) => this.#postTo(theirs)];
    }
  }

  async #list(theirs: Belonging): Promise<Answer> {
    const list = { jsonrpc: "2.0", id: "intruder", method: "tools/list", params: {} };
    return this.#read(await this.#in(theirs).post(list));
  }

  async #take(theirs: Belonging): Promise<Answer> {
    const place = theirs.kind === "place" ? theirs.lastEventId : undefined;
    return this.#read(await this.#in(theirs).get(place));
  }

  /** Its own session may have a stream of that name, so the answers are not compared. */
  async #takeInOwn(theirs: Belonging): Promise<Answer> {
    if (theirs.kind === "place") await this.#read(await this.#session.get(theirs.lastEventId));
    return undefined;
  }

  async #delete(theirs: Belonging): Promise<Answer> {
    return this.#read(await this.#in(theirs).delete());
  }

  async #cancel(theirs: Belonging): Promise<Answer> {
    if (theirs.kind !== "request") return undefined;
    const params = { requestId: theirs.id, reason: "intruded" };
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    return this.#read(await this.#session.post(cancelled));
  }

  async #answer(theirs: Belonging): Promise<Answer> {
    if (theirs.kind !== "question") return undefined;
    const result = { action: "accept", content: { value: "intruded" } };
    return this.#read(await this.#session.post({ jsonrpc: "2.0", id: theirs.id, result }));
  }

  async #goOn(theirs: Belonging): Promise<Answer> {
    if (theirs.kind !== "round") return undefined;
    const { params } = theirs;
    const given = Object.keys(params["inputResponses"] ?? {});
    const answer = { action: "accept", content: { value: "intruded" } };
    const inputResponses = Object.fromEntries(given.map((key) => [key, answer]));
    const request = { client: this.name, id: "intruder", method: "tools/call" };
    const sent = sendModern(this.#door, { ...request, params: { ...params, inputResponses } });
    return this.#read(await sent);
  }

  async #postTo(theirs: Belonging): Promise<Answer> {
    if (theirs.kind !== "address") return undefined;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: "intruder", method: "tools/list" });
    return this.#read(await this.#door.request(theirs.path, { method: "POST", headers, body }));
  }

  #in(theirs: Belonging): LegacySession {
    if (theirs.kind !== "session" && theirs.kind !== "place") return this.#session;
    return new LegacySession(this.#door, sessionHeaders(theirs.id, theirs.revision));
  }

  /** Reads for some time what the gateway answers, in which nothing may be of anybody's call. */
  async #read({ status, body }: Response): Promise<Answer> {
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    const late = this.sleep(READ_MS).then(() => ({ done: true, value: undefined }));
    let text = "";
    for (;;) {
      const { done, value } = (await Promise.race([reader?.read(), late])) ?? { done: true };
      if (done) break;
      text += value;
    }
    void reader?.cancel().catch(() => undefined);
    const call = CALL.exec(text)?.[0];
    if (call !== undefined) this.#ledger.find(`${this.name} got something of ${call}: ${text}`);
    const isItself = status < 500 && status !== 429 && !text.includes('"code":-32603');
    return isItself ? `${status} ${text}` : undefined;
  }
}

/** The same with another id, which nobody has. */
function inventedFor(theirs: Belonging): Belonging {
  switch (theirs.kind) {
    case "session":
    case "place":
      return { ...theirs, id: otherThan(theirs.id) };
    case "request":
    case "question":
      return { ...theirs, id: "invented" };
    case "round": {
      const requestState = otherThan(String(theirs.params["requestState"]));
      return { ...theirs, params: { ...theirs.params, requestState } };
    }
    case "address":
      return { ...theirs, path: otherThan(theirs.path) };
  }
}

/** Another letter near the end, where no version and no name is. */
function otherThan(text: string): string {
  const at = text.length - 4;
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}
