/** A server that speaks stdio: a process for each channel. It works, asks, and ends with its machine. */

import type { Actor, Json } from "./actor.ts";
import type { Ledger } from "./ledger.ts";
import { formOf, inputRequired } from "./question.ts";
import { eventText, placeOfQuestion, TOOL, type Work } from "./tool.ts";

export interface LocalServerHabits {
  /** Whose it is. */
  readonly person: number;
  readonly era: "legacy" | "modern";
  /** Asks its client in some calls. */
  readonly asks?: boolean;
  /** The longest pause before it does the next thing, in milliseconds. */
  readonly pauseMs: number;
}

const CACHE = { ttlMs: 60_000, cacheScope: "private" };

/** What a process was asked, and has not answered. */
type Running = Set<unknown>;

/** A request to a process. */
interface Asked {
  readonly channel: string;
  readonly id: unknown;
  readonly running: Running;
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
  readonly #say: (channel: string, message: Json) => void;
  readonly #channels = new Map<string, Running>();
  /** The calls that run. */
  readonly #calls = new Set<string>();
  /** Those who wait for an answer, by the id of their question. */
  readonly #waiting = new Map<unknown, (answer: Json) => void>();

  /** @param say what a process writes to its stdout. */
  constructor(
    machine: Actor,
    habits: LocalServerHabits,
    ledger: Ledger,
    say: (channel: string, message: Json) => void,
  ) {
    this.#machine = machine;
    this.#habits = habits;
    this.#ledger = ledger;
    this.#say = say;
  }

  open(channel: string): void {
    this.#channels.set(channel, new Set());
  }

  close(channel: string): void {
    this.#channels.delete(channel);
  }

  /** Ends every process. @returns the calls that ran. */
  end(): readonly string[] {
    this.#channels.clear();
    const lost = [...this.#calls];
    this.#calls.clear();
    return lost;
  }

  deliver(channel: string, message: Json): void {
    const running = this.#channels.get(channel);
    if (running === undefined) return;
    const { id, method, params = {} } = message as { id?: unknown; method?: string; params?: Json };
    if (method === "notifications/cancelled") running.delete(params["requestId"]);
    if (method === undefined) this.#waiting.get(id)?.(message);
    if (id === undefined || method === undefined) return;
    running.add(id);
    if (method === "tools/call") {
      this.#call({ channel, id, running }, params);
      return;
    }
    const result = this.#answer(method, params);
    const error = { code: -32601, message: "Method not found" };
    this.#say(channel, { id, ...(result === undefined ? { error } : { result }) });
  }

  #answer(method: string, params: Json): Json | undefined {
    const isModern = this.#habits.era === "modern";
    const done = isModern ? { resultType: "complete", ...CACHE } : {};
    const capabilities = { tools: {} };
    const serverInfo = { name: this.#machine.name, version: "1" };
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

  #call(asked: Asked, params: Json): void {
    const { asks = false, era, person } = this.#habits;
    const { random } = this.#machine.world;
    const work = params["arguments"] as Work;
    const { call, events } = work;
    const { inputResponses, _meta } = params as { inputResponses?: Json; _meta?: Json };
    const isModern = era === "modern";
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
    const { channel, work, progressToken, askAt } = running;
    const { call, events } = work;
    const machine = this.#machine;
    for (let count = 0; count <= events; count += 1) {
      await machine.sleep(machine.upTo(this.#habits.pauseMs));
      if (count === askAt && this.#isWanted(running)) await this.#ask(channel, `${call}?`);
      if (!this.#isWanted(running)) return;
      if (count === events) break;
      const message = eventText(work, count);
      this.#ledger.sent(call, message);
      const progress = { progressToken, progress: count + 1, message };
      this.#say(channel, { method: "notifications/progress", params: progress });
    }
    const done = this.#habits.era === "modern" ? { resultType: "complete" } : {};
    this.#done(running, { ...done, content: [{ type: "text", text: call }] });
    this.#calls.delete(call);
  }

  /** @returns `false` when its process is gone, or its client has cancelled. */
  #isWanted({ channel, running, id, work }: RunningCall): boolean {
    if (this.#channels.get(channel) !== running) return false;
    if (!running.has(id)) this.#calls.delete(work.call);
    return running.has(id);
  }

  async #ask(channel: string, question: string): Promise<void> {
    const id = `q-${this.#machine.world.scheduler.number("question")}`;
    const answer = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    this.#say(channel, { id, method: "elicitation/create", params: formOf(question) });
    this.#ledger.answered(question, await answer);
  }

  #done({ channel, id, running }: Asked, result: Json): void {
    this.#say(channel, { id, result });
    running.delete(id);
  }
}
