/** A wanted set and the part of it that another side holds, in any order of changes, answers, refusals and failures. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { Reconciler, type ReconcilerOptions } from "../../../src/lib/reconciler.ts";

const AT_ONCE = 4;

/** Waits until everything that happens by itself has happened. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

interface World {
  readonly reconciler: Reconciler<string>;
  /** "+key" and "-key", in the order of the requests. */
  readonly asked: string[];
  wanted: ReadonlySet<string>;
  /** The answer of the other side; it rejects when there is none. */
  answer: (line: string) => boolean | Promise<boolean>;
  /** Wants exactly these, and checks all keys. */
  readonly want: (...keys: readonly string[]) => Promise<void>;
}

function worldOf(options: Partial<ReconcilerOptions<string>> = {}): World {
  const asked: string[] = [];
  const ask =
    (sign: string) =>
    async (key: string): Promise<boolean> => {
      asked.push(`${sign}${key}`);
      return world.answer(`${sign}${key}`);
    };
  const reconciler = new Reconciler<string>({
    isWanted: (key) => world.wanted.has(key),
    add: ask("+"),
    remove: ask("-"),
    atOnce: AT_ONCE,
    ...options,
  });
  const world: World = {
    reconciler,
    asked,
    wanted: new Set(),
    answer: () => true,
    want: (...keys) => {
      world.wanted = new Set(keys);
      return reconciler.check([...reconciler.held(), ...keys]);
    },
  };
  return world;
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `${n}`);

describe("a reconciler", () => {
  test("adds and removes each key once", async ({ expect }) => {
    const { want, asked, reconciler } = worldOf();
    await want("a", "b");
    await want("a", "b");
    await want("b", "c");
    expect(asked).toEqual(["+a", "+b", "-a", "+c"]);
    expect(reconciler.held()).toEqual(["b", "c"]);
    await want();
    expect(asked.slice(4)).toEqual(["-b", "-c"]);
    await want("a");
    expect(asked.slice(6)).toEqual(["+a"]);
  });

  test("has a few requests under way at a time", async ({ expect }) => {
    const world = worldOf();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    world.answer = () => promise;
    const done = world.want(...many(10));
    await settled();
    expect(world.asked).toHaveLength(AT_ONCE);
    resolve(true);
    await done;
    expect(world.asked).toHaveLength(10);
  });

  test("does not add a key that is no longer wanted when its turn comes", async ({ expect }) => {
    const world = worldOf();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    world.answer = () => promise;
    const first = world.want(...many(10));
    await settled();
    world.wanted = new Set(["0", "9"]);
    const second = world.reconciler.check(many(10));
    resolve(true);
    await Promise.all([first, second]);
    expect(world.asked.slice(0, 4)).toEqual(["+0", "+1", "+2", "+3"]);
    expect(world.asked.slice(4).toSorted()).toEqual(["+9", "-1", "-2", "-3"]);
    expect(world.reconciler.held()).toEqual(["0", "9"]);
  });

  test("adds again, or removes, what an earlier life may have added", async ({ expect }) => {
    const { want, asked, reconciler } = worldOf({ unsure: ["a", "b"] });
    expect([reconciler.held(), reconciler.verdict("a")]).toEqual([["a", "b"], undefined]);
    await want("a");
    expect(asked).toEqual(["+a", "-b"]);
    expect(reconciler.held()).toEqual(["a"]);
  });

  test("adds a key again on request", async ({ expect }) => {
    const world = worldOf();
    await world.want("a");
    world.answer = () => false;
    expect(await world.reconciler.addAgain("a")).toBe(false);
    world.answer = () => true;
    expect(await world.reconciler.addAgain("a")).toBe(true);
    expect(world.asked).toEqual(["+a", "+a", "+a"]);
    expect(await world.reconciler.addAgain("unwanted")).toBe(false);
    expect(world.asked).toHaveLength(3);
  });

  test("repeats a request without an answer when it is due, and takes a refusal for an answer", async ({
    expect,
  }) => {
    const world = worldOf();
    const { reconciler, asked } = world;
    world.answer = () => Promise.reject(new Error("no answer"));
    await world.want("a", "b");
    expect([reconciler.verdict("a"), reconciler.verdict("b")]).toEqual(["failed", "failed"]);
    await world.want("a", "b");
    expect(asked).toHaveLength(2);
    world.answer = (line) => line !== "+b";
    reconciler.retry();
    await settled();
    expect([reconciler.verdict("a"), reconciler.verdict("b")]).toEqual([true, false]);
    reconciler.retry();
    await settled();
    expect(asked).toEqual(["+a", "+b", "+a", "+b"]);
  });

  test("releases everything, as far as there is time", async ({ expect }) => {
    const world = worldOf();
    await world.want(...many(20));
    world.reconciler.end();
    await world.want("late");
    const controller = new AbortController();
    const removed: string[] = [];
    world.answer = (line) => {
      if (removed.push(line) === 10) controller.abort();
      return true;
    };
    await world.reconciler.release(controller.signal);
    expect(removed.length).toBeGreaterThanOrEqual(10);
    expect(removed.length).toBeLessThan(15);
    expect(new Set(removed).size).toBe(removed.length);
    expect(removed.every((line) => line.startsWith("-"))).toBe(true);
  });
});

describe("a reconciler that gives up when it is refused", () => {
  test("asks no further, and not again", async ({ expect }) => {
    const world = worldOf({ givesUp: true });
    world.answer = () => false;
    await world.want(...many(20));
    await world.want(...many(20));
    await world.want();
    expect(world.asked).toHaveLength(AT_ONCE);
    expect(world.reconciler.held()).toEqual([]);
  });

  test("asks for the others when some are refused", async ({ expect }) => {
    const world = worldOf({ givesUp: true });
    world.answer = (line) => line !== "+3";
    await world.want(...many(20));
    expect(world.asked).toHaveLength(20);
    expect(world.reconciler.held()).toHaveLength(19);
  });

  test("asks again once refusals are forgotten", async ({ expect }) => {
    const world = worldOf({ givesUp: true });
    world.answer = (line) => line === "+a";
    await world.want("a", "b");
    world.reconciler.forgetRefusals();
    world.answer = () => true;
    await world.want("a", "b");
    expect(world.asked).toEqual(["+a", "+b", "+b"]);
  });

  test("removes the rest later when removals are refused", async ({ expect }) => {
    const world = worldOf({ givesUp: true });
    await world.want(...many(20));
    world.answer = () => false;
    await world.want();
    expect(world.asked).toHaveLength(20 + AT_ONCE);
    world.answer = () => true;
    await world.want();
    expect(world.asked).toHaveLength(40);
    expect(world.reconciler.held()).toEqual([]);
  });
});

describe("in any order of events", () => {
  const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"] as const;
  const key = fc.constantFrom(...KEYS);
  const moves = fc.array(
    fc.oneof(
      fc.record({ do: fc.constantFrom("want" as const, "leave" as const), key }),
      fc.record({
        do: fc.constant("answer" as const),
        isLast: fc.boolean(),
        /** What becomes of the request: `deaf` is carried out, and has no answer; `lost` is neither. */
        fate: fc.constantFrom("ok" as const, "ok" as const, "deaf" as const, "lost" as const),
      }),
      fc.record({ do: fc.constant("retry" as const) }),
    ),
    { maxLength: 60 },
  );

  test("the other side comes to hold what is wanted, and no key has two requests at a time", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(moves, fc.subarray([...KEYS]), async (moves, refused: string[]) => {
        const wanted = new Set<string>();
        const held = new Set<string>();
        const open: ((fate: "ok" | "deaf" | "lost") => void)[] = [];
        const busy = new Set<string>();
        const request =
          (isAdd: boolean) =>
          (key: string): Promise<boolean> => {
            expect(busy.has(key)).toBe(false);
            expect(busy.size).toBeLessThan(AT_ONCE);
            busy.add(key);
            const { promise, resolve, reject } = Promise.withResolvers<boolean>();
            open.push((fate) => {
              busy.delete(key);
              const isAgreed = !isAdd || !refused.includes(key);
              if (fate !== "lost" && isAgreed) {
                if (isAdd) held.add(key);
                else held.delete(key);
              }
              if (fate === "ok") resolve(isAgreed);
              else reject(new Error("no answer"));
            });
            return promise;
          };
        const reconciler = new Reconciler<string>({
          isWanted: (key) => wanted.has(key),
          add: request(true),
          remove: request(false),
          atOnce: AT_ONCE,
          onSettled: (key) => expect(reconciler.verdict(key)).not.toBe(undefined),
        });
        const checks: Promise<void>[] = [];
        for (const move of moves) {
          if (move.do === "answer") (move.isLast ? open.pop() : open.shift())?.(move.fate);
          else if (move.do === "retry") reconciler.retry();
          else {
            if (move.do === "want") wanted.add(move.key);
            else wanted.delete(move.key);
            checks.push(reconciler.check([move.key]));
          }
          await settled();
        }
        const rest = async (): Promise<void> => {
          for (let next = open.shift(); next !== undefined; next = open.shift()) {
            next("ok");
            await settled();
          }
        };
        await rest();
        reconciler.retry();
        await settled();
        await rest();
        expect([...held].toSorted()).toEqual(
          [...wanted].filter((key) => !refused.includes(key)).toSorted(),
        );
        for (const key of wanted) expect(reconciler.verdict(key)).toBe(held.has(key));
        await Promise.all(checks);
      }),
      { numRuns: 500 },
    );
  });
});
