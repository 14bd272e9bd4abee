/** Rate limits by key. */

import { describe, test } from "vitest";

import { RateLimits } from "../../../../src/auth/store/rate-limits.ts";
import { withSql } from "../../lib/sql-fixture.ts";

interface Fixture {
  readonly limits: RateLimits;
  readonly clock: { now: number };
  readonly again: () => RateLimits;
  readonly rowsIn: (table: string) => number;
}

function withLimits<T>(act: (fixture: Fixture) => T): Promise<T> {
  return withSql(({ sql, clock, rowsIn }) => {
    const again = (): RateLimits => new RateLimits(sql, () => clock.now);
    return act({ limits: again(), clock, again, rowsIn });
  });
}

describe("in a minute", () => {
  test("it may happen so often, and then one has to wait so long", async ({ expect }) => {
    await withLimits(({ limits, clock }) => {
      const take = (): number => limits.take("a", 3);
      expect([take(), take(), take(), take(), take()]).toEqual([0, 0, 0, 20, 20]);
      clock.now += 19_000;
      expect(take()).toBe(1);
      clock.now += 1000;
      expect([take(), take()]).toEqual([0, 20]);
    });
  });

  test("each key is counted for itself", async ({ expect }) => {
    await withLimits(({ limits }) => {
      expect([limits.take("a", 1), limits.take("b", 1), limits.take("a", 1)]).toEqual([0, 0, 60]);
    });
  });

  test("of too many keys the one that was used the longest ago is forgiven", async ({ expect }) => {
    await withLimits(({ limits }) => {
      limits.take("old", 1);
      limits.take("used", 1);
      for (let n = 0; n < 9999; n++) {
        if (n === 5000) expect(limits.take("used", 1)).toBe(60);
        limits.take(`k${n}`, 1);
      }
      expect([limits.take("used", 1), limits.take("old", 1)]).toEqual([60, 0]);
    });
  });
});

describe("in a day", () => {
  test("it is counted, also over a restart", async ({ expect }) => {
    await withLimits(({ limits, again }) => {
      expect([limits.countOfDay("a"), limits.countOfDay("a"), limits.countOfDay("b")]).toEqual([
        ...[1, 2, 1],
      ]);
      expect(again().countOfDay("a")).toBe(3);
    });
  });

  test("the next day begins at nothing, and the one before is swept", async ({ expect }) => {
    await withLimits(({ limits, clock, rowsIn }) => {
      for (const key of ["a", "a", "b"]) limits.countOfDay(key);
      clock.now += 86_400_000;
      expect(limits.countOfDay("a")).toBe(1);
      limits.sweep();
      expect([rowsIn("days_1"), limits.countOfDay("a")]).toEqual([1, 2]);
    });
  });
});
