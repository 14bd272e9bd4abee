/**
 * The promises of every kind of outbox rows: each item that is appended is delivered at least once,
 * nothing that was acknowledged is delivered again, each recipient has one call at a time and its
 * batches in order, and a new life over the same rows goes on.
 */

import * as fc from "fast-check";

import { Outbox, type OutboxRows } from "../../../src/lib/outbox.ts";

/** One kind of rows, as the suite uses it. */
interface Subject<Batch> {
  readonly rows: OutboxRows<string, Batch>;
  append(recipient: string, item: string): void;
  /** Left out where nothing can be withdrawn. */
  withdraw?(recipient: string, item: string): void;
  itemsOf(batch: Batch): readonly string[];
  /** The number of a batch; left out where batches have none. */
  numberOf?(batch: Batch): number;
}

/** Makes the rows of one life. It writes nothing any more once `isOver` is true. */
type Begin<Batch> = (clock: { now: number }, isOver: () => boolean) => Subject<Batch>;

const RECIPIENTS = ["r", "s"] as const;
const ITEMS = ["a", "b", "c"] as const;

const recipient = fc.constantFrom(...RECIPIENTS);
const item = fc.constantFrom(...ITEMS);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("append" as const), recipient, item }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("withdraw" as const), recipient, item }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      index: fc.nat(2),
      /** `deaf`: the recipient has it, and the outbox does not know. */
      fate: fc.constantFrom("ok" as const, "ok" as const, "deaf" as const, "lost" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom<number>(0, 100, 5000, 30_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("evict" as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
type Fate = "ok" | "deaf" | "lost";

/** The newest batch of a recipient. A delivery under the same number repeats it. */
interface LastCall {
  readonly number: number;
  readonly begunAt: number;
  isAcknowledged: boolean;
}

class Trial<Batch> {
  readonly violations: string[] = [];
  readonly #begin: Begin<Batch>;
  readonly #clock = { now: 1_800_000_000_000 };
  /** Appended and neither acknowledged nor withdrawn, with the number of the appending step. */
  readonly #pending = new Map<string, number>();
  /** Not received since it was appended. */
  readonly #owed = new Set<string>();
  readonly #last = new Map<string, LastCall>();
  #calls: { readonly recipient: string; readonly end: (fate: Fate) => void }[] = [];
  #steps = 0;
  #life = 0;
  #subject: Subject<Batch>;
  #outbox: Outbox<string, Batch>;

  constructor(begin: Begin<Batch>) {
    this.#begin = begin;
    [this.#subject, this.#outbox] = this.#revive();
  }

  async take(step: Step): Promise<void> {
    this.#steps += 1;
    switch (step.do) {
      case "append": {
        const key = `${step.recipient} ${step.item}`;
        this.#pending.set(key, this.#steps);
        this.#owed.add(key);
        this.#subject.append(step.recipient, step.item);
        break;
      }
      case "withdraw": {
        if (this.#subject.withdraw === undefined) break;
        const key = `${step.recipient} ${step.item}`;
        this.#pending.delete(key);
        this.#owed.delete(key);
        this.#subject.withdraw(step.recipient, step.item);
        break;
      }
      case "answer": {
        const [call] = this.#calls.splice(step.index % Math.max(1, this.#calls.length), 1);
        call?.end(step.fate);
        break;
      }
      case "pass":
        this.#clock.now += step.ms;
        break;
      case "evict":
        this.#calls = [];
        [this.#subject, this.#outbox] = this.#revive();
    }
    await this.#settled();
  }

  /** All goes well, until nothing is due any more. */
  async rest(): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      while (this.#calls.length > 0) await this.take({ do: "answer", index: 0, fate: "ok" });
      await this.take({ do: "pass", ms: 60_000 });
    }
    for (const key of this.#owed) this.violations.push(`${key} was never delivered`);
    for (const key of this.#pending.keys()) this.violations.push(`${key} is left over`);
    const soonest = this.#subject.rows.soonest();
    if (soonest !== undefined) this.violations.push(`something is due at ${soonest}`);
  }

  async #settled(): Promise<void> {
    void this.#outbox.deliverDue();
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  }

  #revive(): [Subject<Batch>, Outbox<string, Batch>] {
    const life = ++this.#life;
    const subject = this.#begin(this.#clock, () => life !== this.#life);
    const { rows } = subject;
    const deliver = (recipient: string, batch: Batch): Promise<boolean> =>
      this.#deliver(subject, recipient, batch);
    return [subject, new Outbox({ rows, deliver })];
  }

  #deliver(subject: Subject<Batch>, recipient: string, batch: Batch): Promise<boolean> {
    if (this.#calls.some((call) => call.recipient === recipient)) {
      this.violations.push(`${recipient} has two calls at a time`);
    }
    const items = subject.itemsOf(batch);
    const keys = items.map((item) => `${recipient} ${item}`);
    for (const key of keys) {
      if (!this.#pending.has(key)) this.violations.push(`${key} is delivered for nothing`);
    }
    if (new Set(items).size !== items.length || items.length === 0) {
      this.violations.push(`${recipient} gets ${JSON.stringify(items)}`);
    }
    const begunAt = this.#checkOrder(subject, recipient, batch);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const end = (fate: Fate): void => {
      const arrived = keys.filter((key) => (this.#pending.get(key) ?? Infinity) <= begunAt);
      if (fate !== "lost") for (const key of arrived) this.#owed.delete(key);
      const last = this.#last.get(recipient);
      if (fate === "ok") {
        for (const key of arrived) this.#pending.delete(key);
        if (last !== undefined) last.isAcknowledged = true;
        resolve(true);
      } else if (this.#steps % 2 === 0) resolve(false);
      else reject(new Error("The recipient cannot be reached"));
    };
    this.#calls.push({ recipient, end });
    return promise;
  }

  /** @returns the step in which the number of the batch was delivered for the first time. */
  #checkOrder(subject: Subject<Batch>, recipient: string, batch: Batch): number {
    const number = subject.numberOf?.(batch);
    if (number === undefined) return this.#steps;
    const last = this.#last.get(recipient);
    const isAgain = number === last?.number && !last.isAcknowledged;
    if (last !== undefined && number <= last.number && !isAgain) {
      this.violations.push(`${recipient} gets ${number} after ${last.number}`);
    }
    const begunAt = isAgain ? last.begunAt : this.#steps;
    this.#last.set(recipient, { number, begunAt, isAcknowledged: false });
    return begunAt;
  }
}

/** @returns a property: no order of steps leads to a violation. */
export function outboxProperty<Batch>(
  begin: Begin<Batch>,
  options: { readonly canEvict: boolean; readonly onEnd?: () => void },
  check: (violations: readonly string[]) => void,
): fc.IAsyncProperty<[Step[]]> {
  return fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
    const trial = new Trial(begin);
    for (const one of steps) if (one.do !== "evict" || options.canEvict) await trial.take(one);
    await trial.rest();
    options.onEnd?.();
    check(trial.violations);
  });
}
