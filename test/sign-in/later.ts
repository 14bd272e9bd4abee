/** Time that passes for the gateway under test, until the test is over. */

import { afterEach, vi } from "vitest";

import { passTime } from "./clock.ts";

export const SECOND = 1000;
export const DAY = 86_400_000;

export const later = passTime;

// Of every file that has asked for this one.
afterEach(() => {
  vi.useRealTimers();
});
