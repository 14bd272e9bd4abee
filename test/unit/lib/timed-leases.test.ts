/** Places that are held while a request lives, and expire when it dies without notice. */

import { afterEach, beforeEach, test, vi } from "vitest";

import { TimedLeases } from "../../../src/lib/timed-leases.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("counts the places of a holder, and of all", ({ expect }) => {
  const leases = new TimedLeases<string>();
  const leave = leases.take("ann", "one");
  leases.take("ann", "two");
  leases.take("bob", "three");
  expect([leases.held("ann"), leases.taken()]).toEqual([["one", "two"], 3]);
  leave();
  leave();
  expect([leases.held("ann"), leases.taken()]).toEqual([["two"], 2]);
});

test("a place lasts as long as it is renewed, and is counted once", ({ expect }) => {
  const leases = new TimedLeases<string>();
  leases.take("ann", "one");
  vi.advanceTimersByTime(60_000);
  expect([leases.held("ann"), leases.taken()]).toEqual([["one"], 1]);
});

test("a place whose request has died is nobody's after a while", ({ expect }) => {
  const leases = new TimedLeases<string>();
  leases.take("ann", "one");
  vi.clearAllTimers(); // the timers of a request end with it
  vi.advanceTimersByTime(14_999);
  expect(leases.taken()).toBe(1);
  vi.advanceTimersByTime(5001);
  expect([leases.held("ann"), leases.taken()]).toEqual([[], 0]);
});

test("a place that was swept while its isolate stood still comes back", ({ expect }) => {
  const leases = new TimedLeases<string>();
  leases.take("ann", "one");
  vi.setSystemTime(Date.now() + 60_000); // no timer has fired meanwhile
  expect(leases.taken()).toBe(0);
  vi.advanceTimersByTime(5000);
  expect([leases.held("ann"), leases.taken()]).toEqual([["one"], 1]);
});
