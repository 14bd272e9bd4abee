/** The bill of the benchmark, worked out by hand from the price list. */

import { describe, test } from "vitest";

import { dollarsPerMillion, type Operations, operationsOf } from "../../../bench/bill.ts";

const NOTHING: Operations = {
  ...{ workerRequests: 0, objectRequests: 0, webSocketMessagesIn: 0 },
  ...{ rowsRead: 0, rowsWritten: 0, alarmsSet: 0, objectSeconds: 0 },
};

describe("dollarsPerMillion()", () => {
  test.for<[keyof Operations, number, number]>([
    ["workerRequests", 1, 0.3],
    ["objectRequests", 2, 0.3],
    ["webSocketMessagesIn", 20, 0.15],
    ["rowsRead", 1000, 1],
    ["rowsWritten", 3, 3],
    ["alarmsSet", 1, 1],
    // 128 MB for 8 s is a GB-s and a bit: 1.024 of them, at $12.50 for a million.
    ["objectSeconds", 8, 12.8],
  ])("%s: %d for each of a million cost $%d", ([name, count, dollars], { expect }) => {
    expect(dollarsPerMillion({ ...NOTHING, [name]: count })).toBeCloseTo(dollars, 10);
  });

  test("adds up what a call takes, and nothing costs nothing", ({ expect }) => {
    const call = { ...NOTHING, workerRequests: 1, objectRequests: 1, rowsWritten: 2 };
    expect(dollarsPerMillion(call)).toBeCloseTo(2.45, 10);
    expect(dollarsPerMillion(NOTHING)).toBe(0);
  });

  test("an object that is awake for a month costs what the platform's example says", ({
    expect,
  }) => {
    const month = 30 * 86_400;
    const dollars = dollarsPerMillion({ ...NOTHING, objectSeconds: month }) / 1e6;
    expect(dollars).toBeCloseTo(4.147, 3);
  });
});

describe("operationsOf()", () => {
  const before = {
    ...{ objectRequests: 10, webSocketMessagesIn: 4, rowsRead: 0, rowsWritten: 7, alarmsSet: 1 },
  };

  test("is what was counted in between, for each", ({ expect }) => {
    const after = { ...before, objectRequests: 30, rowsWritten: 12 };
    expect(operationsOf(before, after, 10)).toEqual({
      ...{ objectRequests: 2, webSocketMessagesIn: 0, rowsRead: 0, rowsWritten: 0.5, alarmsSet: 0 },
    });
  });

  test("refuses counters that were lost or went back", ({ expect }) => {
    expect(() => operationsOf(before, { ...before, rowsWritten: 6 }, 1)).toThrow("rowsWritten");
    const { alarmsSet, ...rest } = before;
    expect(() => operationsOf(before, rest as typeof before, alarmsSet)).toThrow("alarmsSet");
  });
});
