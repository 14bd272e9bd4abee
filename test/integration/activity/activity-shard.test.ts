/** What a shard keeps of calls, over its lives. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type CallPlace, writeCall } from "../../../src/activity/call.ts";
import { MAX_CALLS } from "../../../src/activity/recent-calls.ts";
import { add, call, inShard, list, NOW, type ShardWorld } from "./shard-fixture.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TODAY = Math.floor(NOW / DAY);

function named(from: number, to: number): readonly ReturnType<typeof call>[] {
  return Array.from({ length: to - from }, (_, n) => call({ name: `tool ${from + n}` }));
}

describe("the list", () => {
  test("is newest first, and paged without a gap or a repetition", async ({ expect }) => {
    await inShard((world) => {
      for (let n = 0; n < 30; n++) add(world, call({ at: NOW - (n % 7), name: `tool ${n}` }));
      const seen: string[] = [];
      let before: CallPlace | undefined;
      for (;;) {
        const query = { filter: {}, shard: "s", limit: 4, ...(before && { before }) };
        const { calls, hasMore } = world.shard.calls(query);
        seen.push(...calls.map(({ name }) => name));
        before = calls.at(-1);
        if (!hasMore) break;
      }
      expect(seen).toHaveLength(30);
      expect(new Set(seen).size).toBe(30);
      expect(list(world).map(({ at }) => at)).toEqual(
        list(world)
          .map(({ at }) => at)
          .toSorted((a, b) => b - a),
      );
    });
  });

  test("outlives the object, which may end between any two batches", async ({ expect }) => {
    await inShard((world) => {
      for (let n = 0; n < 120; n++) {
        add(world, call({ name: `${n}`, at: NOW + n }));
        if (n % 3 === 0) world.restart();
      }
      expect(list(world).map(({ name }) => Number(name))).toEqual(
        Array.from({ length: 120 }, (_, n) => 119 - n),
      );
    });
  });

  test("has a bound, and what leaves it is counted, once", async ({ expect }) => {
    await inShard((world) => {
      for (let n = 0; n < 30; n++) {
        add(world, ...Array.from({ length: 100 }, () => call({ at: NOW - 30 + n })));
        if (n % 4 === 0) world.restart();
      }
      const left = list(world);
      expect(left.length).toBeLessThanOrEqual(MAX_CALLS);
      expect(left.length).toBeGreaterThan(MAX_CALLS - 200);
      expect(Math.min(...left.map(({ at }) => at))).toBeGreaterThan(NOW - 24);
      const { day: [today] = [] } = world.shard.usage(["day"], { from: 0 });
      expect(today?.calls).toBe(3000);
    });
  });

  test.for([
    [
      "somebody whose calls are the last is forgotten",
      (world: ShardWorld) => world.shard.forget("bob"),
    ],
    ["the last calls have expired", (world: ShardWorld) => world.shard.wake()],
  ] as const)("goes on when %s", async ([, end], { expect }) => {
    await inShard((world) => {
      // A row of its own for each.
      add(world, ...Array.from({ length: 50 }, () => call({ person: "ann" })));
      add(world, call({ person: "bob", at: NOW - 8 * DAY }));
      end(world);
      add(world, call({ person: "eve", name: "after" }));
      const left = list(world);
      expect(left.filter(({ name }) => name === "after")).toHaveLength(1);
      expect(left).toHaveLength(51);
      expect(new Set(left.map(({ id }) => id)).size).toBe(51);
    });
  });

  test("costs one row for a batch", async ({ expect }) => {
    await inShard((world) => {
      const rows = (): number => {
        const [row] = world.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM calls_1");
        return row?.n ?? 0;
      };
      for (let n = 0; n < 100; n++) add(world, call());
      expect(rows()).toBe(2);
      add(world, ...Array.from({ length: 300 }, () => call()));
      expect(rows()).toBe(3);
    });
  });

  test("goes after a week", async ({ expect }) => {
    await inShard((world) => {
      add(world, call({ name: "old", at: NOW - 7 * DAY }), call({ name: "young" }));
      expect(list(world).map(({ name }) => name)).toEqual(["young"]);
      world.now += 8 * DAY;
      world.shard.wake();
      expect(list(world)).toEqual([]);
      expect([...world.sql.exec("SELECT n FROM calls_1")]).toEqual([]);
    });
  });

  test("shows the calls to whoever looks on with the ids that they are listed with", async ({
    expect,
  }) => {
    await inShard((world) => {
      add(world, call({ name: "a" }));
      add(world, call({ name: "b" }), call({ name: "c" }));
      const listed = list(world).map(({ id, name }) => `${id} ${name}`);
      expect(world.shown.map(({ id, name }) => `s.${id} ${name}`).toSorted()).toEqual(
        listed.toSorted(),
      );
    });
  });

  test("is read from the rows of an earlier version, and without those of a later one", async ({
    expect,
  }) => {
    await inShard((world) => {
      const early = JSON.stringify([
        NOW,
        "ann",
        "c",
        "App",
        "legacy",
        "docs",
        "tools/call",
        "find",
      ]);
      const insert = "INSERT INTO calls_1 (n, format, count, latest, lines) VALUES (?, ?, ?, ?, ?)";
      world.sql.exec(insert, 1, 1, 1, NOW, early);
      world.sql.exec(insert, 2, 2, 1, NOW, "what nobody knows yet");
      world.restart();
      add(world, call({ name: "new", at: NOW + 1 }));
      expect(list(world).map(({ name, outcome }) => [name, outcome])).toEqual([
        ["new", "ok"],
        ["find", ""],
      ]);
    });
  });
});

describe("the counts", () => {
  test("are those of all calls, whenever they are counted and however the object lives", async ({
    expect,
  }) => {
    const some = fc.record({
      at: fc.integer({ min: NOW - 3 * DAY, max: NOW }),
      person: fc.constantFrom("ann", "bob"),
      name: fc.constantFrom("find", "wipe"),
      outcome: fc.constantFrom("ok", "tool_error", "cancelled"),
      ms: fc.integer({ min: 0, max: 400_000 }),
    });
    const steps = fc.array(
      fc.oneof(
        fc.array(some, { minLength: 1, maxLength: 8 }),
        fc.constantFrom("restart", "wake", "look"),
      ),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(steps, (steps) =>
        inShard((world) => {
          const all: ReturnType<typeof call>[] = [];
          for (const step of steps) {
            if (step === "restart") world.restart();
            else if (step === "wake") world.shard.wake();
            else if (step === "look") world.shard.usage(["day"], { from: 0 });
            else if (typeof step !== "string") {
              const calls = step.map(call);
              all.push(...calls);
              add(world, ...calls);
            }
          }
          const sums = world.shard.usage(["tool", "person", "day"], { from: 0 });
          for (const { key, calls, errors, buckets } of sums.tool ?? []) {
            const own = all.filter(({ name }) => name === key.tool);
            expect([calls, errors]).toEqual([
              own.length,
              own.filter(({ outcome }) => outcome === "tool_error").length,
            ]);
            expect(buckets.reduce((a, b) => a + b, 0)).toBe(own.length);
          }
          for (const group of ["tool", "person", "day"] as const) {
            const counted = (sums[group] ?? []).reduce((sum, { calls }) => sum + calls, 0);
            expect(counted, group).toBe(all.length);
          }
        }),
      ),
      { numRuns: 30 },
    );
  });

  test("are narrowed, and listed row by row", async ({ expect }) => {
    await inShard((world) => {
      for (const person of ["ann", "bob"]) {
        for (const name of ["a", "b", "c"]) add(world, call({ person, name }));
      }
      const filter = { from: TODAY, person: "ann" };
      expect(world.shard.usage(["day"], filter).day?.[0]?.calls).toBe(3);
      const first = world.shard.usageRows({ from: 0 }, undefined, 4);
      const rest = world.shard.usageRows({ from: 0 }, first.at(-1), 4);
      expect([...first, ...rest].map(({ tool, person }) => tool + person)).toEqual([
        ...["aann", "abob", "bann", "bbob", "cann", "cbob"],
      ]);
      expect(world.shard.usage(["day"], { from: TODAY + 1 }).day).toEqual([]);
    });
  });

  test("have a bound for each day: names of clients beyond it are counted together", async ({
    expect,
  }) => {
    await inShard((world) => {
      for (let n = 0; n < 30; n++) {
        add(world, ...named(n * 50, n * 50 + 50));
        world.shard.wake();
      }
      const [row] = world.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM usage_1");
      expect(row?.n).toBe(1001);
      expect(world.shard.usage(["day"], { from: 0 }).day?.[0]?.calls).toBe(1500);
    });
  });

  test("have room for new names, however often those of before are called", async ({ expect }) => {
    await inShard((world) => {
      add(world, ...named(0, 600));
      world.shard.wake();
      add(world, ...named(0, 500), ...named(600, 900));
      world.shard.wake();
      const { tool = [] } = world.shard.usage(["tool"], { from: 0 });
      expect(tool.map(({ key }) => key.tool)).not.toContain("_other");
      expect(tool).toHaveLength(900);
      // The bound is that of before.
      add(world, ...named(0, 500), ...named(900, 1200));
      const rows = world.shard.usage(["tool"], { from: 0 }).tool ?? [];
      expect(rows).toHaveLength(1001);
      expect(rows.find(({ key }) => key.tool === "_other")?.calls).toBe(200);
    });
  });

  test("name no tool that no server has", async ({ expect }) => {
    await inShard((world) => {
      add(world, call({ server: "*", name: "made-up", outcome: "error:-32602" }));
      expect(world.shard.usage(["tool"], { from: 0 }).tool?.[0]?.key).toMatchObject({ tool: "" });
    });
  });

  test("know when a server was called last", async ({ expect }) => {
    await inShard((world) => {
      add(world, call({ at: NOW - 5 }), call({ at: NOW - 9 }), call({ server: "*" }));
      world.restart();
      add(world, call({ server: "other", at: NOW - 1 }));
      expect(world.shard.lastCalled()).toEqual({ docs: NOW - 5, other: NOW - 1 });
    });
  });

  test("go after ninety days, and then the object sleeps for ever", async ({ expect }) => {
    await inShard((world) => {
      add(world, call());
      world.shard.wake();
      expect(world.alarms.at(-1)).toBe(NOW + 7 * DAY);
      world.now += 8 * DAY;
      world.shard.wake();
      expect(world.shard.usage(["day"], { from: 0 }).day).toHaveLength(1);
      expect(world.alarms.at(-1)).toBe((TODAY + 90) * DAY);
      world.now = (TODAY + 90) * DAY;
      const { length } = world.alarms;
      world.shard.wake();
      expect(world.shard.usage(["day"], { from: 0 }).day).toEqual([]);
      expect(world.alarms).toHaveLength(length);
    });
  });
});

describe("a person who is forgotten", () => {
  test("is in no row, whatever was counted and whatever is still on its way", async ({
    expect,
  }) => {
    await inShard((world) => {
      for (let n = 0; n < 60; n++) add(world, call({ person: n % 2 === 0 ? "ann" : "bob" }));
      world.shard.wake();
      add(world, call(), call({ person: "bob" }));
      world.shard.add({
        lines: [],
        latest: 0,
        unlisted: [{ minute: NOW, person: "ann", calls: 3 }],
      });
      world.shard.forget("ann");
      world.restart();
      const late = [writeCall(call()), writeCall(call({ person: "bob" }))];
      const unlisted = [{ minute: NOW - 60_000, person: "ann", calls: 3 }];
      world.shard.add({ lines: late, latest: NOW, unlisted });
      const people = list(world).map(({ person }) => person);
      expect([people.length, new Set(people)]).toEqual([32, new Set(["bob"])]);
      const { person, day } = world.shard.usage(["person", "day"], { from: 0 });
      expect(person?.map(({ key, calls }) => [key.person, calls])).toEqual([["bob", 32]]);
      expect(day?.[0]?.calls).toBe(32);
      expect(world.shard.calls({ filter: {}, shard: "s", limit: 1 }).unlisted).toEqual([]);
    });
  });

  test("is recorded again, with what they call later", async ({ expect }) => {
    await inShard((world) => {
      world.shard.forget("ann");
      add(world, call({ at: NOW + 1, name: "later" }));
      expect(list(world).map(({ name }) => name)).toEqual(["later"]);
    });
  });
});

const lost = (person: string, calls: number, minute = NOW) => ({ minute, person, calls });

test("calls that were not written down are counted for their minute and person", async ({
  expect,
}) => {
  await inShard((world) => {
    for (const unlisted of [[lost("ann", 2)], [lost("ann", 3), lost("bob", 1)]]) {
      world.shard.add({ lines: [], latest: 0, unlisted });
    }
    world.restart();
    const query = { shard: "s", limit: 1 };
    expect(world.shard.calls({ ...query, filter: { person: "ann" } }).unlisted).toEqual([
      lost("ann", 5),
    ]);
    expect(world.shard.calls({ ...query, filter: {} }).unlisted).toEqual([lost("", 6)]);
  });
});

test("calls of many people that were not written down in one minute leave room for other minutes", async ({
  expect,
}) => {
  await inShard((world) => {
    const people = ["ann", "bob", "eve", "joe", "kim", "lee", "max"];
    const before = NOW - 60_000;
    const unlisted = [lost("ann", 9, before), ...people.map((person) => lost(person, 1))];
    world.shard.add({ lines: [], latest: 0, unlisted });
    const query = { shard: "s", limit: 1, filter: {} };
    expect(world.shard.calls(query).unlisted).toEqual([lost("", 7), lost("", 9, before)]);
  });
});
