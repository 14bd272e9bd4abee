/**
 * Waiting with an end: no test waits for ever, and none sleeps for a fixed time. The end is far away,
 * since a machine may be busy, and is only ever reached by what fails.
 */

import { vi } from "vitest";

export const PATIENCE_MS = 20_000;

/** @throws Error that says what was waited for. */
export async function within<T>(promise: Promise<T>, what: string, ms = PATIENCE_MS): Promise<T> {
  let timer: number | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until there is an answer. */
export function until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  return vi.waitFor(
    async () => {
      const answer = await ask();
      if (answer === undefined) throw new Error(`Waited ${PATIENCE_MS} ms for ${what}`);
      return answer;
    },
    { timeout: PATIENCE_MS, interval: 20 },
  );
}
