/** The calls of everybody, put together from the objects that keep them. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { Activities, type ActivityStub } from "../../../src/activity/activities.ts";
import { byAge, type ListedCall } from "../../../src/activity/call.ts";
import { BUCKETS } from "../../../src/activity/histogram.ts";
import { activityShard, allActivityShards } from "../../../src/activity/shards.ts";
import type { UsageKey, UsageRow } from "../../../src/activity/usage.ts";

const [ONE = "", OTHER = ""] = allActivityShards();

function stubs(of: Readonly<Record<string, Partial<ActivityStub>>>): Activities {
  const nothing: ActivityStub = {
    calls: () => Promise.resolve({ calls: [], hasMore: false, unlisted: [] }),
    usage: () => Promise.resolve({}),
    usageRows: () => Promise.resolve([]),
    lastCalled: () => Promise.resolve({}),
    forget: () => Promise.reject(new Error("Nobody is to be forgotten")),
    fetch: () => Promise.reject(new Error("Nobody looks")),
  };
  return new Activities((shard) => ({ ...nothing, ...of[shard] }));
}

const call = (shard: string, at: number): ListedCall =>
  ({ id: `${shard}.${at}`, at, person: "ann" }) as ListedCall;

const row = (more: Partial<UsageRow>): UsageRow => ({
  ...{ day: 1, server: "s", method: "m", tool: "t", person: "p", calls: 1, errors: 0 },
  ...{ buckets: Array<number>(BUCKETS).fill(1), ...more },
});

const lacking = (of: readonly (readonly [minute: number, calls: number])[]) => {
  const unlisted = of.map(([minute, calls]) => ({ minute, person: "", calls }));
  return { calls: () => Promise.resolve({ calls: [], hasMore: false, unlisted }) };
};

const lackingOneIn = (...minutes: readonly number[]) => lacking(minutes.map((at) => [at, 1]));

const rows = (of: readonly number[]): Partial<ActivityStub> => {
  const own = [...new Set(of)].toSorted((a, b) => a - b).map((day) => row({ day }));
  return {
    usageRows: (_, after) =>
      Promise.resolve(own.filter(({ day }) => after === undefined || day > after.day)),
  };
};

describe("calls", () => {
  test("of everybody are one list, in one order, page by page", async ({ expect }) => {
    const all = Object.fromEntries(
      [ONE, OTHER].map((shard, odd) => {
        const own = [1, 3, 5, 7, 9].map((at) => call(shard, at + odd)).toSorted(byAge);
        const calls: ActivityStub["calls"] = ({ before, limit }) => {
          const rest = own.filter((each) => before === undefined || byAge(before, each) < 0);
          const hasMore = rest.length > limit;
          return Promise.resolve({ calls: rest.slice(0, limit), hasMore, unlisted: [] });
        };
        return [shard, { calls }];
      }),
    );
    const activities = stubs(all);
    const first = await activities.calls({}, 4);
    const second = await activities.calls({}, 4, first.calls.at(-1));
    const third = await activities.calls({}, 4, second.calls.at(-1));
    const pages = [first, second, third];
    expect(pages.flatMap(({ calls }) => calls.map(({ at }) => at))).toEqual([
      ...[10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    ]);
    expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
  });

  test("of one person are asked of one object", async ({ expect }) => {
    const asked: string[] = [];
    const activities = new Activities((shard) => {
      asked.push(shard);
      return {
        calls: () => Promise.resolve({ calls: [], hasMore: false, unlisted: [] }),
      } as unknown as ActivityStub;
    });
    await activities.calls({ person: "ann" }, 4);
    expect(asked).toEqual([activityShard("ann")]);
  });

  test("that are not listed are added up by the minute", async ({ expect }) => {
    const { unlisted } = await stubs({
      [ONE]: lacking([[5, 2]]),
      [OTHER]: lacking([[5, 3]]),
    }).calls({}, 1);
    expect(unlisted).toEqual([{ minute: 5, person: "", calls: 5 }]);
  });

  test("that are not listed are named of minutes of which every object has told", async ({
    expect,
  }) => {
    // The first one may have lost calls in the first minute, too: it names five.
    const all = { [ONE]: lackingOneIn(7, 6, 5, 4, 3), [OTHER]: lackingOneIn(3, 1) };
    const { unlisted } = await stubs(all).calls({}, 1);
    expect(unlisted.map(({ minute, calls }) => [minute, calls])).toEqual([
      ...[
        [7, 1],
        [6, 1],
        [5, 1],
        [4, 1],
        [3, 2],
      ],
    ]);
  });
});

describe("counts", () => {
  test("of one key add up, and the largest come first", async ({ expect }) => {
    const key: UsageKey = { day: 0, server: "a", method: "", tool: "", person: "" };
    const sum = (server: string, calls: number) => ({ ...row({ calls }), key: { ...key, server } });
    const activities = stubs({
      [ONE]: { usage: () => Promise.resolve({ server: [sum("a", 2), sum("b", 4)] }) },
      [OTHER]: { usage: () => Promise.resolve({ server: [sum("a", 3)] }) },
    });
    const { server } = await activities.usage(["server"], { from: 0 });
    expect(server.map((each) => [each.key.server, each.calls, each.buckets[0]])).toEqual([
      ["a", 5, 2],
      ["b", 4, 1],
    ]);
  });

  test("come row by row in the order of their keys, from all objects", async ({ expect }) => {
    const days = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(days, days, async (one, other) => {
        const all: number[] = [];
        const activities = stubs({ [ONE]: rows(one), [OTHER]: rows(other) });
        for await (const { day } of activities.usageRows({ from: 0 })) all.push(day);
        const expected = [...new Set(one), ...new Set(other)].toSorted((a, b) => a - b);
        expect(all).toEqual(expected);
      }),
    );
  });

  test("say when each server was called last", async ({ expect }) => {
    const activities = stubs({
      [ONE]: { lastCalled: () => Promise.resolve({ a: 5, b: 1 }) },
      [OTHER]: { lastCalled: () => Promise.resolve({ a: 3 }) },
    });
    expect(Object.fromEntries(await activities.lastCalled())).toEqual({ a: 5, b: 1 });
  });
});
