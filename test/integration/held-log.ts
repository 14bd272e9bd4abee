/**
 * The log of the gateway, which only a test that fails shows. The runner would send each line of the console by itself,
 * and wait for the answer at the end of a file: an object that says something then, with a request of its own, is
 * never answered, and the runner never ends.
 */

const LEVELS = ["debug", "error", "info", "log", "warn"] as const;

type Say = (...values: unknown[]) => void;

const held: (() => void)[] = [];
const holders = new WeakSet<Say>();

/** A file that shares the isolate of others may find a console that holds already. */
export function holdLog(): void {
  for (const level of LEVELS) {
    const say: Say = console[level];
    if (holders.has(say)) continue;
    const hold: Say = (...values) => void held.push(() => say(...values));
    holders.add(hold);
    console[level] = hold;
  }
}

/** To be called after each test. @param isShown the test has failed. */
export function letLogGo(isShown: boolean): void {
  const lines = held.splice(0);
  if (isShown) for (const say of lines) say();
}
