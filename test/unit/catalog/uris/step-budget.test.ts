/** The limit on matching for one request, and for one server's part of it. */

import { test } from "vitest";

import { StepBudget } from "../../../../src/catalog/uris/step-budget.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

test("one server takes at most half of the steps, and all servers together at most all of them", ({
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
