/**
 * Whatever a server asks and withdraws, and its client answers, repeats and abandons, in any
 * order: each question is answered at most once, by one of its round's retries alone; each retry of a
 * round leads to the same; and each client that waits gets an answer.
 */

import * as fc from "fast-check";
import { afterEach, beforeEach, test, vi } from "vitest";

import type { RoundResult } from "../../../../src/relay/modern-to-legacy/bridged-call.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { accept, form, GATHER_MS, pass, startCall, Visitor } from "./bridged-call-world.ts";

type Step =
  | { readonly do: "ask"; readonly isAskable: boolean }
  | { readonly do: "withdraw" | "hang-up"; readonly which: number }
  | {
      readonly do: "answer";
      /** How many rounds ago; 0 is the last. */
      readonly age: number;
      /** Which of the round's questions, a bit for each; the last of all for one that there was not. */
      readonly keys: number;
      readonly isBad: boolean;
    }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "end" | "stop" };

const ALL_KEYS = 2 ** 8 - 1;
const which = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      isAskable: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
    }),
  },
  {
    weight: 80,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      age: fc.constantFrom(0, 0, 0, 1, 2),
      keys: fc.oneof(fc.constant(ALL_KEYS), fc.nat({ max: 2 ** 9 - 1 })),
      isBad: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  },
  {
    weight: 100,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(1, GATHER_MS, GATHER_MS),
    }),
  },
  { weight: 15, arbitrary: fc.record({ do: fc.constant("withdraw" as const), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("hang-up" as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("end", "stop" as const) }) },
);

function visitor(): Visitor {
  return new Visitor({ capabilities: { elicitation: {} } });
}

/** A call, and what its client has seen of it. */
class Run {
  readonly #fixture = startCall(visitor());
  readonly #visitors: Visitor[] = [];
  readonly retries: { readonly round: number; readonly visitor: Visitor }[] = [];
  /** The retry that brought each answer. */
  readonly #broughtBy = new Map<number, number>();
  #answers = 0;

  constructor() {
    this.#note(0, this.#fixture.turn, new Visitor());
  }

  #note(round: number, turn: Promise<RoundResult>, visitor: Visitor): void {
    this.retries.push({ round, visitor });
    void turn.then((turn) => {
      visitor.turn = turn;
    });
  }

  get #rounds(): number {
    return this.#fixture.journal.parked.length;
  }

  async act(step: Step): Promise<void> {
    const { call, server } = this.#fixture;
    switch (step.do) {
      case "ask":
        server.ask(step.isAskable ? form() : { method: "sampling/createMessage", params: {} });
        return;
      case "withdraw":
        server.questions.at(-1 - step.which)?.withdraw();
        return;
      case "hang-up": {
        const visitor = this.#visitors.at(-1 - step.which);
        if (visitor !== undefined && visitor.turn === undefined) call.leave(visitor);
        return;
      }
      case "answer":
        this.#answer(step.age, step.keys, step.isBad);
        return;
      case "pass":
        await pass(step.ms);
        return;
      case "end":
        server.end();
        for (const question of server.questions) question.withdraw();
        return;
      case "stop":
        call.stop(new Error("Too late"), { error: { code: 1, message: "Stopped" } });
    }
  }

  #answer(age: number, keys: number, isBad: boolean): void {
    const round = this.#rounds - age;
    if (round < 1) return;
    const returning = visitor();
    this.#visitors.push(returning);
    const responses: Record<string, JsonObject> = {};
    const shown = Object.keys(this.#fixture.journal.parked[round - 1]?.questions ?? {});
    for (const [bit, key] of [...shown.slice(0, 8), "r99"].entries()) {
      if ((keys & (1 << bit)) === 0) continue;
      const n = ++this.#answers;
      this.#broughtBy.set(n, this.retries.length);
      responses[key] = isBad ? { action: "maybe" } : accept({ n });
    }
    const turn = this.#fixture.call.answer(round, responses, returning);
    this.#note(round, turn, returning);
  }

  /** Brings it to its end, and returns the violations. */
  async problems(): Promise<readonly string[]> {
    await this.act({ do: "end" });
    await pass(2 * GATHER_MS);
    return [
      ...this.#unanswered(),
      ...this.#differing(),
      ...this.#wronglyAnswered(),
      ...this.#unwritten(),
      ...(vi.getTimerCount() === 0 ? [] : ["a timer is left"]),
    ];
  }

  #unanswered(): readonly string[] {
    return this.retries
      .filter(({ visitor }) => visitor.turn === undefined)
      .map(({ round }) => `a retry of round ${round} is not answered`);
  }

  /** What the answers to each round led to. */
  #differing(): readonly string[] {
    const led = new Map<number, Set<string>>();
    for (const { round, visitor } of this.retries) {
      const { turn } = visitor;
      const isAsItWas = turn?.kind === "asked" && turn.round === round;
      if (turn === undefined || turn.kind === "refused" || isAsItWas) continue;
      led.set(round, (led.get(round) ?? new Set()).add(JSON.stringify(turn)));
    }
    return [...led]
      .filter(([, turns]) => turns.size > 1)
      .map(([round, turns]) => `round ${round} led to ${[...turns].join(" and ")}`);
  }

  #wronglyAnswered(): readonly string[] {
    const { server } = this.#fixture;
    const problems: string[] = [];
    /** Of each round, the retry whose answers were taken. */
    const takenBy = new Map<number, number>();
    for (const [index, { replies }] of server.questions.entries()) {
      const [reply, ...others] = replies;
      if (others.length > 0) problems.push(`question ${index + 1} was answered twice`);
      if (reply === undefined) problems.push(`question ${index + 1} was left open`);
      if (reply === undefined || !("result" in reply)) continue;
      const { n } = reply.result["content"] as { n: number };
      const retry = this.#broughtBy.get(n) ?? -1;
      const round = this.retries[retry]?.round ?? -1;
      if ((takenBy.get(round) ?? retry) !== retry) {
        problems.push(`two retries of round ${round} were taken`);
      }
      takenBy.set(round, retry);
      const questions = this.#fixture.journal.parked[round - 1]?.questions ?? {};
      if (questions[`r${index + 1}`] === undefined) {
        problems.push(`question ${index + 1} was not asked in round ${round}`);
      }
    }
    return problems;
  }

  /** No client is shown a round that could not be found again. */
  #unwritten(): readonly string[] {
    const { parked } = this.#fixture.journal;
    return this.retries.flatMap(({ visitor: { turn } }) => {
      if (turn?.kind !== "asked") return [];
      const written = parked[turn.round - 1];
      const isWritten = JSON.stringify(written?.questions) === JSON.stringify(turn.questions);
      return written?.round === turn.round && isWritten
        ? []
        : [`round ${turn.round} is not written`];
    });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("each question is answered at most once, in any order of events", async ({ expect }) => {
  const steps = fc.array(step, { minLength: 10, maxLength: 50 });
  let roundsSeen = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const run = new Run();
      for (const one of all) await run.act(one);
      expect(await run.problems()).toEqual([]);
      roundsSeen = Math.max(roundsSeen, ...run.retries.map(({ round }) => round));
    }),
    { numRuns: 200 },
  );
  // Otherwise the property would be vacuous.
  expect(roundsSeen).toBeGreaterThan(1);
}, 60_000);
