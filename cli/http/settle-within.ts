/**
 * Waits with a time-out, as `src/lib/time-out.ts` does in Workers, whose timers have another type.
 *
 * @returns `undefined` when the time is over first; the promise continues and may be awaited again.
 */
export async function settleWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
