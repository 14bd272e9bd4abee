/** A server that speaks stdio: a process for each channel. It works, asks, changes, and ends with its machine. */

import type { Actor, Json } from "./actor.ts";
import type { ChangeHabits, Changing } from "./changing.ts";
import type { Ledger } from "./ledger.ts";
import { answersOf, type LieHabits, lieNowAndThen } from "./lies.ts";
import { formOf, inputRequired } from "./question.ts";
import { eventText, placeOfQuestion, type Work } from "./tool.ts";

export interface LocalServerHabits extends ChangeHabits, LieHabits {
  /** Whose it is. */
  readonly person: number;
  readonly era: "legacy" | "modern";
  /** Asks its client in some calls. */
  readonly asks?: boolean;
  /** The longest pause before it does the next thing, in milliseconds. */
  readonly pauseMs: number;
}

const CACHE = { ttlMs: 60_000, cacheScope: "private" };

interface Process {
  readonly channel: string;
  /** The requests that it has not answered. */
  readonly running: Set<unknown>;
  /** What was subscribed to. */
  readonly uris: Set<string>;
  /** What `subscriptions/listen` asks for, by the id of the request. */
  readonly listens: Map<unknown, Json>;
  /** It has answered `initialize`. */
  hasSession: boolean;
}

/** A request to a process. */
interface Asked {
  readonly process: Process;
  readonly id: unknown;
}

/** A call that a process works on. */
interface RunningCall extends Asked {
  readonly work: Work;
  readonly progressToken: unknown;
  /** After how many events it asks. */
  readonly askAt: number;
}

export class LocalServer {
  readonly #machine: Actor;
  readonly #habits: LocalServerHabits;
  readonly #ledger: Ledger;
  readonly #changing: Changing;
  readonly #say: (channel: string, message: Json) => void;
  readonly #processes = new Map<string, Process>();
  /** The calls that run. */
  readonly #calls = new Set<string>();
  /** Those who wait for an answer, by the id of their question. */
  readonly #waiting = new Map<unknown, (answer: Json) => void>();

  /** @param say what a process writes to its stdout. */
  constructor(
    machine: Actor,
    habits: LocalServerHabits,
    parts: {
      readonly ledger: Ledger;
      readonly changing: Changing;
      readonly say: (channel: string, message: Json) => void;
    },
  ) {
    this.#machine = machine;
    this.#habits = habits;
    this.#ledger = parts.ledger;
    this.#changing = parts.changing;
    this.#say = parts.say;
  }

  open(channel: string): void {
    this.#processes.set(channel, {
      ...{ channel, running: new Set(), uris: new Set(), listens: new Map() },
      hasSession: false,
    });
  }

  close(channel: string): void {
    this.#processes.delete(channel);
  }

  /** Ends every process. @returns the calls that ran. */
  end(): readonly string[] {
    this.#processes.clear();
    const lost = [...this.#calls];
    this.#calls.clear();
    return lost;
  }

  deliver(channel: string, message: Json): void {
    const process = this.#processes.get(channel);
    if (process === undefined) return;
    const { id, method, params = {} } = message as { id?: unknown; method?: string; params?: Json };
    if (method === "notifications/cancelled") {
      process.running.delete(params["requestId"]);
      process.listens.delete(params["requestId"]);
    }
    if (method === undefined) this.#waiting.get(id)?.(message);
    if (id === undefined || method === undefined) return;
    if (method === "subscriptions/listen" && this.#isModern) {
      this.#listen(process, id, params["notifications"] as Json);
      return;
    }
    process.running.add(id);
    if (method === "tools/call") {
      this.#call({ process, id }, params);
      return;
    }
    const result = this.#answer(method, params, process);
    const error = { code: -32601, message: "Method not found" };
    this.#say(channel, { id, ...(result === undefined ? { error } : { result }) });
  }

  /** Sends a notification to those who asked for it. @param uri of a resource. */
  announce(method: string, uri?: string): void {
    const params = uri === undefined ? {} : { uri };
    for (const { channel, hasSession, uris, listens } of this.#processes.values()) {
      if (hasSession && (uri === undefined || uris.has(uri)))
        this.#say(channel, { method, params });
      for (const [id, { toolsListChanged, resourceSubscriptions = [] }] of listens) {
        const isAsked =
          uri === undefined
            ? toolsListChanged === true
            : (resourceSubscriptions as readonly string[]).includes(uri);
        if (isAsked) this.#say(channel, { method, params: { ...params, _meta: subscription(id) } });
      }
    }
  }

  get #isModern(): boolean {
    return this.#habits.era === "modern";
  }

  #listen({ channel, listens }: Process, id: unknown, notifications: Json): void {
    listens.set(id, notifications);
    const method = "notifications/subscriptions/acknowledged";
    this.#say(channel, { method, params: { _meta: subscription(id), notifications } });
  }

  #answer(method: string, params: Json, process: Process): Json | undefined {
    const done = this.#isModern ? { resultType: "complete", ...CACHE } : {};
    const capabilities = { tools: { listChanged: true }, ...this.#changing.capabilities };
    const serverInfo = { name: this.#machine.name, version: "1" };
    const uri = String(params["uri"]);
    switch (method) {
      case "initialize":
        if (this.#isModern) return undefined;
        process.hasSession = true;
        return { protocolVersion: params["protocolVersion"], capabilities, serverInfo };
      case "server/discover":
        return this.#isModern
          ? { ...done, supportedVersions: ["2026-07-28"], capabilities, serverInfo }
          : undefined;
      case "resources/subscribe":
        if (this.#isModern) return undefined;
        process.uris.add(uri);
        return {};
      case "resources/unsubscribe":
        process.uris.delete(uri);
        return {};
      case "ping":
        return {};
      default: {
        const fields = this.#changing.answer(method, params);
        return fields && { ...done, ...fields };
      }
    }
  }

  #call(asked: Asked, params: Json): void {
    const { asks = false, person } = this.#habits;
    const { random } = this.#machine.world;
    const work = params["arguments"] as Work;
    const { call, events } = work;
    const { inputResponses, _meta } = params as { inputResponses?: Json; _meta?: Json };
    const isModern = this.#isModern;
    if (inputResponses === undefined) this.#ledger.ran(call, undefined, `p${person}`);
    else this.#ledger.answered(`${call}?`, inputResponses);
    if (isModern && asks && inputResponses === undefined && random.chance(0.5)) {
      this.#done(asked, inputRequired(call));
      return;
    }
    this.#calls.add(call);
    const askAt = isModern ? -1 : placeOfQuestion(asks, events, random);
    void this.#work({ ...asked, work, progressToken: _meta?.["progressToken"], askAt });
  }

  async #work(running: RunningCall): Promise<void> {
    const { process, work, progressToken, askAt } = running;
    const { channel } = process;
    const { call, events } = work;
    const machine = this.#machine;
    for (let count = 0; count <= events; count += 1) {
      await machine.sleep(machine.upTo(this.#habits.pauseMs));
      if (count === askAt && this.#isWanted(running)) await this.#ask(channel, `${call}?`);
      if (!this.#isWanted(running)) return;
      lieNowAndThen(this.#habits, machine.world.random, (lie) => this.#say(channel, lie));
      if (count === events) break;
      const message = eventText(work, count);
      this.#ledger.sent(call, message);
      const progress = { progressToken, progress: count + 1, message };
      this.#say(channel, { method: "notifications/progress", params: progress });
    }
    const done = this.#isModern ? { resultType: "complete" } : {};
    for (let left = answersOf(this.#habits, machine.world.random); left > 0; left -= 1)
      this.#done(running, { ...done, content: [{ type: "text", text: call }] });
    this.#calls.delete(call);
  }

  /** @returns `false` when its process is gone, or its client has cancelled. */
  #isWanted({ process, id, work }: RunningCall): boolean {
    if (this.#processes.get(process.channel) !== process) return false;
    if (!process.running.has(id)) this.#calls.delete(work.call);
    return process.running.has(id);
  }

  async #ask(channel: string, question: string): Promise<void> {
    const id = `q-${this.#machine.world.scheduler.number("question")}`;
    const answer = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    this.#say(channel, { id, method: "elicitation/create", params: formOf(question) });
    this.#ledger.answered(question, await answer);
  }

  #done({ process, id }: Asked, result: Json): void {
    this.#say(process.channel, { id, result });
    process.running.delete(id);
  }
}

function subscription(id: unknown): Json {
  return { "io.modelcontextprotocol/subscriptionId": id };
}
