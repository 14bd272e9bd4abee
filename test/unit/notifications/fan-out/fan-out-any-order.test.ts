/**
 * Under any order of subscribing, unsubscribing, news, failures and deaths of the branch: a subscriber
 * that wants a topic is notified of news of it, each piece once; one that has unsubscribed is not; and
 * at rest nothing is left over.
 */

import * as fc from "fast-check";
import { describe, test, vi } from "vitest";

import type { Mode } from "./fan-out-fakes.ts";
import { LISTENERS, SESSIONS, SLUGS, type Step, TOPICS, Trial } from "./fan-out-trial.ts";
import { useWorldTime, World } from "./fan-out-world.ts";
import { START, withSql } from "../../lib/sql-fixture.ts";

useWorldTime();

const session = fc.constantFrom(...SESSIONS);
const listener = fc.constantFrom(...LISTENERS);
const slug = fc.constantFrom(...SLUGS);
const topics = fc.subarray([...TOPICS], { minLength: 1 });
const mode = fc.constantFrom<Mode>("ok", "ok", "lost", "deaf", "hangs", "gone");

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("subscribe" as const), session, slug, topics }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("unsubscribe" as const), session, slug, topics }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), session }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("publish" as const), slug, topics }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("listen" as const), listener, slug, topics }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("hangUp", "read", "read", "break" as const),
      listener,
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("arrive" as const), index: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("session" as const), session, mode }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("feed" as const), slug, mode }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 500, 4000, 15_000, 40_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("evict" as const, "kill" as const),
      arrived: fc.boolean(),
    }),
  },
);

const RUNS = 200;
const LEFT_OVERS = ["due_1", "late_1", "waiting_1", "untold_1"];

describe("whatever happens in whatever order", () => {
  test("each subscriber is notified of what it is owed, once, and nothing is left over", async ({
    expect,
  }) => {
    await withSql(({ sql, rowsIn }) =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          vi.setSystemTime(START);
          const trial = new Trial(new World(sql, { windowBytes: 200 }));
          for (const one of steps) await trial.take(one);
          await trial.rest();
          expect(trial.verdict()).toEqual([]);
          for (const table of LEFT_OVERS) expect([table, rowsIn(table)]).toEqual([table, 0]);
          for (const table of ["wants_1", "accepted_1"]) sql.exec(`DELETE FROM ${table}`);
        }),
        { numRuns: RUNS },
      ),
    );
  }, 60_000);
});
