/**
 * The log of the gateway, which only a test that fails shows. The test runner would send each line of the console to
 * its main process, and wait for all answers at the end of a file. A line that a Durable Object says at that moment is
 * sent with the runner's next message, which never comes: the run would hang.
 */

const LEVELS = ["debug", "error", "info", "log", "warn"] as const;

type Say = (...values: unknown[]) => void;

const held: (() => void)[] = [];
const holding = new WeakSet<Console>();

/** Files that share an isolate share its console, too. */
export function holdLog(): void {
  if (holding.has(console)) return;
  holding.add(console);
  for (const level of LEVELS) {
    const say: Say = console[level];
    console[level] = (...values: unknown[]) => void held.push(() => say(...values));
  }
}

/** To be called after each test. @param isShown the test has failed. */
export function letLogGo(isShown: boolean): void {
  const lines = held.splice(0);
  if (isShown) for (const say of lines) say();
}
