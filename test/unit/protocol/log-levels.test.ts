/** Which log messages are for whom, where several share a session that has one level. */

import { describe, test } from "vitest";

import {
  isLogLevel,
  isLoud,
  LOG_LEVEL_NAMES,
  type LogLevel,
  lowest,
} from "../../../src/protocol/log-levels.ts";

const LEVELS = LOG_LEVEL_NAMES.split(", ") as LogLevel[];

test("the levels are those of RFC 5424, from the least severe on", ({ expect }) => {
  expect(LEVELS).toEqual([
    ...["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"],
  ]);
  expect(LEVELS.every(isLogLevel)).toBe(true);
  expect(["", "Debug", "warn", "toString", 7, null, undefined].filter(isLogLevel)).toEqual([]);
});

describe("whoever wants a level", () => {
  test("hears that and what is more severe", ({ expect }) => {
    for (const [index, wanted] of LEVELS.entries()) {
      expect(LEVELS.filter((level) => isLoud(level, wanted))).toEqual(LEVELS.slice(index));
    }
  });

  test("hears nothing of a level that there is not", ({ expect }) => {
    expect([undefined, 7, "loud"].filter((level) => isLoud(level, "debug"))).toEqual([]);
  });
});

test("the lowest is the one at which everybody hears what they want", ({ expect }) => {
  expect(lowest(["error", "info", "alert"])).toBe("info");
  expect(lowest(["emergency"])).toBe("emergency");
  expect(lowest([])).toBeUndefined();
});
