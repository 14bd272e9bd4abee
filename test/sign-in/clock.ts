/** Lets time pass for the gateway, whose objects run beside the test, until the test is over: nothing waits for it. */

import { vi } from "vitest";

export const SECOND = 1000;
export const DAY = 86_400_000;

/** From now on it is that much later. */
export function passTime(ms: number): void {
  const now = Date.now() + ms;
  if (vi.isFakeTimers()) vi.setSystemTime(now);
  else vi.useFakeTimers({ toFake: ["Date"], now });
}
