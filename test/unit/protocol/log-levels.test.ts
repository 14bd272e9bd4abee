/** Which log messages each client gets when several share a session that has one level. */

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

describe("a client that wants a level", () => {
  test("gets messages of that level and of more severe ones", ({ expect }) => {
    for (const [index, wanted] of LEVELS.entries()) {
      expect(LEVELS.filter((level) => isLoud(level, wanted))).toEqual(LEVELS.slice(index));
    }
  });

  test("gets no message of an unknown level", ({ expect }) => {
    expect([undefined, 7, "loud"].filter((level) => isLoud(level, "debug"))).toEqual([]);
  });
});

test("the lowest level is the one at which every client gets its messages", ({ expect }) => {
  expect(lowest(["error", "info", "alert"])).toBe("info");
  expect(lowest(["emergency"])).toBe("emergency");
  expect(lowest([])).toBeUndefined();
});
