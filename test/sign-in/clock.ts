/** Lets time pass for the gateway, whose objects run beside the test: nothing waits for it. */

import { vi } from "vitest";

/** From now on it is that much later; `vi.useRealTimers` ends it. */
export function passTime(ms: number): void {
  const now = Date.now() + ms;
  if (vi.isFakeTimers()) vi.setSystemTime(now);
  else vi.useFakeTimers({ toFake: ["Date"], now });
}
