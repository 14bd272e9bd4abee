/** Waits with a time-out. No timer is left running: it would keep a Durable Object in memory. */

/** @returns `undefined` when the time is over first; the promise continues and may be awaited again. */
export async function settleWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  // Timers of Workers and of Node have other types.
  let timer!: ReturnType<typeof setTimeout>;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a function and aborts its signal when the time is over. */
export async function abortAfter<T>(
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`Not done in ${ms} ms`)), ms);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
