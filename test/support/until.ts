/** Waiting for something to be so, with an end. */

const INTERVAL_MS = 5;
/** Only what fails waits for so long. */
const DEFAULT_MS = 120_000;

/**
 * @param what is waited for, in words for the error.
 * @throws Error when it has not come true in time.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string),
  withinMs = DEFAULT_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(`Not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    }
    await pause(INTERVAL_MS);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
