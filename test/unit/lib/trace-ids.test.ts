/** Ids of traces have their length, are no zeros, and are not given twice. */

import { describe, test, vi } from "vitest";

import { randomSpanId, randomTraceId } from "../../../src/lib/trace-ids.ts";

describe.for([
  ["randomTraceId()", randomTraceId, 32],
  ["randomSpanId()", randomSpanId, 16],
] as const)("%s", ([, id, length]) => {
  test("gives another id each time", ({ expect }) => {
    const ids = Array.from({ length: 1000 }, () => id());
    expect(new Set(ids).size).toBe(1000);
    expect(ids.filter((one) => !/^[\da-f]+$/.test(one) || one.length !== length)).toEqual([]);
  });

  test.for([0, 1 - Number.EPSILON])("is valid at the bounds: %s", (value, { expect }) => {
    const random = vi.spyOn(Math, "random").mockReturnValue(value);
    const text = id();
    random.mockRestore();
    expect(text).toHaveLength(length);
    expect(text).not.toMatch(/^0+$/);
  });
});
