/** The one table of limits. */

import { describe, test } from "vitest";

import { defaultLimits, isLimitName, LIMITS } from "../../../src/policy/limits.ts";

describe("each limit", () => {
  test.for(Object.entries(LIMITS))(
    "%s has a unit, bounds and a default within them",
    ([name, limit], { expect }) => {
      expect(name).toMatch(
        /(?:Bytes|Seconds|Minutes|Hours|Milliseconds|Days|Depth|Tries|Chars|Items|Pages|Calls|failures|Per[A-Z][a-z]+)/,
      );
      expect(limit.min).toBeLessThan(limit.max);
      expect(limit.default).toBeGreaterThanOrEqual(limit.min);
      expect(limit.default).toBeLessThanOrEqual(limit.max);
    },
  );
});

test("the defaults that the contract states", ({ expect }) => {
  expect(defaultLimits()).toMatchObject({ maxBodyBytes: 4 * 1024 * 1024, keepAliveSeconds: 15 });
});

test("every name is known, and nothing that an object has by birth", ({ expect }) => {
  expect(Object.keys(defaultLimits()).every(isLimitName)).toBe(true);
  expect(["constructor", "__proto__", "toString", "", "MaxBodyBytes"].filter(isLimitName)).toEqual(
    [],
  );
});

test("the defaults are a new object each time", ({ expect }) => {
  expect(defaultLimits()).not.toBe(defaultLimits());
});

// A text beyond Latin-1 travels between objects as UTF-16.
test.for(["maxBodyBytes", "resultBytes"] as const)(
  "what %s lets through fits between two objects, at its largest",
  (name, { expect }) => {
    const [platform, envelope] = [32 * 1024 * 1024, 64 * 1024];
    expect(LIMITS[name].max * 2 + envelope).toBeLessThanOrEqual(platform);
  },
);
