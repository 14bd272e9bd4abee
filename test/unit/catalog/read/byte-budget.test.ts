/** The bytes that a catalog may take. */

import { test } from "vitest";

import { ByteBudget, entryWeight, weightOf } from "../../../../src/catalog/read/byte-budget.ts";

test("a text with a character that does not fit into one byte weighs two bytes a character", ({
  expect,
}) => {
  expect(["abc", "é", "—", "a—c", ""].map(weightOf)).toEqual([3, 1, 2, 6, 0]);
  expect(entryWeight("abc", "—")).toBe(entryWeight() + 5);
});

test("a budget gives all or nothing, and takes back", ({ expect }) => {
  const budget = new ByteBudget(10);
  expect([budget.take(6), budget.take(5), budget.take(4), budget.left]).toEqual([
    ...[true, false, true, 0],
  ]);
  budget.restore(4);
  expect([budget.left, budget.take(4)]).toEqual([4, true]);
});
