/** What one request may look through, and what one server may take of it. */

import { test } from "vitest";

import { StepBudget } from "../../../../src/catalog/uris/step-budget.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

test("one server takes half of the steps at most, and all of them no more than all", ({
  expect,
}) => {
  const [a, b, c] = [fakeServer("a"), fakeServer("b"), fakeServer("c")];
  const steps = new StepBudget();
  expect(steps.take(a, 500_001)).toBe(false);
  expect(steps.take(a, 500_000)).toBe(true);
  expect(steps.take(a, 1)).toBe(false);
  expect(steps.take(b, 400_000)).toBe(true);
  expect(steps.take(c, 100_001)).toBe(false);
  expect(steps.take(c, 100_000)).toBe(true);
  expect(steps.take(b, 1)).toBe(false);
});
