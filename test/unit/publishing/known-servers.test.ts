/** What an isolate knows of what people publish: how old it may be, who waits, and what a change makes of it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { KnownServers } from "../../../src/publishing/known-servers.ts";
import type { PublishedList, Publishers } from "../../../src/publishing/publisher.ts";

/** A person's object: what it answers is what it has when it is asked, and comes when a test lets it. */
class PersonsObject {
  names: readonly string[] = ["files"];
  version = 1;
  /** The calls that have no answer yet, oldest first. */
  readonly calls: { readonly asked: PublishedList; settle(isLost?: boolean): void }[] = [];
  callCount = 0;

  get list(): PublishedList {
    const servers = this.names.map((name) => ({ name, host: "laptop", since: 1 }));
    return { version: this.version, changedAt: 0, servers, paused: [] };
  }

  change(names: readonly string[]): void {
    this.names = names;
    this.version += 1;
  }

  readonly publishers: Publishers = {
    of: () => ({
      list: () => {
        const asked = this.list;
        const { promise, resolve, reject } = Promise.withResolvers<PublishedList>();
        const settle = (isLost = false): void => {
          this.calls.splice(this.calls.indexOf(call), 1);
          if (isLost) reject(new Error("The object restarts"));
          else resolve(asked);
        };
        const call = { asked, settle };
        this.calls.push(call);
        this.callCount += 1;
        return promise;
      },
      end: () => Promise.resolve(false),
      setPaused: () => Promise.resolve(false),
    }),
  };
}

class Isolate {
  readonly object = new PersonsObject();
  readonly clock = { now: 1000 };
  readonly work: Promise<unknown>[] = [];
  readonly known = new KnownServers({
    publishers: this.object.publishers,
    now: () => this.clock.now,
  });

  of(name?: string): Promise<PublishedList> {
    return this.known.of("ann", name, (work) => this.work.push(work));
  }

  /** Asks, and lets the object answer if it is asked. */
  async answered(name?: string): Promise<PublishedList> {
    const answer = this.of(name);
    for (const call of [...this.object.calls]) call.settle();
    return answer;
  }
}

function namesIn({ servers }: PublishedList): readonly string[] {
  return servers.map(({ name }) => name);
}

describe("a list that is known", () => {
  test("is used for 5 seconds, read again beside the answers after them, and waited for after 10", async ({
    expect,
  }) => {
    const isolate = new Isolate();
    await isolate.answered();
    isolate.object.change([]);
    isolate.clock.now += 4999;
    expect(namesIn(await isolate.of())).toEqual(["files"]);
    expect(isolate.object.callCount).toBe(1);

    isolate.clock.now += 1;
    expect(namesIn(await isolate.of())).toEqual(["files"]);
    expect(namesIn(await isolate.of())).toEqual(["files"]);
    // One reading serves all that come while it goes on.
    expect([isolate.object.callCount, isolate.work.length]).toEqual([2, 1]);
    isolate.object.calls[0]?.settle();
    await isolate.work[0];
    expect(namesIn(await isolate.of())).toEqual([]);

    isolate.clock.now += 10_000;
    isolate.object.change(["notes"]);
    expect(namesIn(await isolate.answered())).toEqual(["notes"]);
    expect(isolate.work).toHaveLength(1);
  });

  test("is one object for as long as it is the same", async ({ expect }) => {
    const isolate = new Isolate();
    const first = await isolate.answered();
    isolate.clock.now += 10_000;
    expect(await isolate.answered()).toBe(first);
    isolate.known.forget("ann");
    expect(await isolate.answered()).toBe(first);
    isolate.object.change(["files", "notes"]);
    isolate.clock.now += 10_000;
    expect(await isolate.answered()).not.toBe(first);
  });

  test("is that of one person", async ({ expect }) => {
    const isolate = new Isolate();
    await isolate.answered();
    const others = isolate.known.of("bob", undefined, () => undefined);
    expect(isolate.object.calls).toHaveLength(1);
    isolate.object.calls[0]?.settle();
    await others;
  });
});

test("a reading that has begun before a change was heard of does not count after it", async ({
  expect,
}) => {
  const isolate = new Isolate();
  await isolate.answered();
  isolate.clock.now += 5000;
  await isolate.of();
  const [before] = isolate.object.calls;
  isolate.object.change(["notes"]);
  isolate.known.forget("ann");
  before?.settle();
  await isolate.work[0];
  expect(namesIn(await isolate.answered())).toEqual(["notes"]);
});

test("of two readings, the one that has begun later counts, whichever ends first", async ({
  expect,
}) => {
  const isolate = new Isolate();
  const earlier = isolate.of();
  isolate.object.change(["notes"]);
  const later = isolate.of();
  const [first, second] = isolate.object.calls;
  second?.settle();
  expect(namesIn(await later)).toEqual(["notes"]);
  first?.settle();
  await earlier;
  expect(namesIn(await isolate.of())).toEqual(["notes"]);
});

test("a name that is not known yet is asked for, however new the list is", async ({ expect }) => {
  const isolate = new Isolate();
  await isolate.answered();
  isolate.object.change(["files", "notes"]);
  expect(namesIn(await isolate.of("files"))).toEqual(["files"]);
  expect(namesIn(await isolate.answered("notes"))).toEqual(["files", "notes"]);
  expect(isolate.object.callCount).toBe(2);
});

describe("while the object cannot be asked", () => {
  test("there is nothing where nothing was known, and the last list otherwise", async ({
    expect,
  }) => {
    const isolate = new Isolate();
    const nothing = isolate.of();
    isolate.object.calls[0]?.settle(true);
    expect(namesIn(await nothing)).toEqual([]);
    await isolate.answered();
    isolate.clock.now += 10_000;
    const last = isolate.of();
    isolate.object.calls[0]?.settle(true);
    expect(namesIn(await last)).toEqual(["files"]);
  });

  test("a reading beside the answers is tried again by the next one", async ({ expect }) => {
    const isolate = new Isolate();
    await isolate.answered();
    isolate.clock.now += 5000;
    await isolate.of();
    isolate.object.calls[0]?.settle(true);
    await isolate.work[0];
    await isolate.of();
    expect(isolate.object.calls).toHaveLength(1);
  });
});

type Step =
  | { readonly do: "ask"; readonly name: string | undefined }
  | { readonly do: "change"; readonly names: readonly string[] }
  | { readonly do: "settle"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "forget" };

const NAMES = ["files", "notes", "tools"];
const step: fc.Arbitrary<Step> = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      name: fc.constantFrom(undefined, ...NAMES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("change" as const), names: fc.subarray(NAMES) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat({ max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 4999, 5000, 10_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const) }) },
);

/** Lets all promises that can settle do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("in any order of questions, answers and changes, no answer is older than it may be", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const isolate = new Isolate();
      const { object, clock, known } = isolate;
      /** When each version became outdated. */
      const outdatedAt = new Map<number, number>();
      /** Of the last change that the isolate has heard of. */
      let heardOf = 0;
      const answers: Promise<void>[] = [];
      const ask = async (name: string | undefined): Promise<void> => {
        const [askedAt, least] = [clock.now, heardOf];
        const isThere = name !== undefined && object.names.includes(name);
        const list = await isolate.of(name);
        expect(list.version).toBeGreaterThanOrEqual(least);
        expect(askedAt - (outdatedAt.get(list.version) ?? askedAt)).toBeLessThan(10_000);
        if (isThere) expect(namesIn(list)).toContain(name);
      };
      const settleAll = (): void => {
        for (const call of [...object.calls]) call.settle();
      };
      for (const each of steps) {
        if (each.do === "ask") answers.push(ask(each.name));
        else if (each.do === "settle") object.calls[each.which]?.settle();
        else if (each.do === "forget") {
          known.forget("ann");
          heardOf = object.version;
        } else if (each.do === "change") {
          outdatedAt.set(object.version, clock.now);
          object.change(each.names);
        } else {
          // An answer takes no time here, but comes in any order.
          settleAll();
          await settled();
          clock.now += each.ms;
        }
        await settled();
      }
      settleAll();
      await Promise.all(answers);
    }),
  );
});
