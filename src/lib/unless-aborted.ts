/**
 * Waits for a promise that others share. An abort ends only this wait; the promise continues.
 *
 * @throws the signal's reason when it is aborted.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
