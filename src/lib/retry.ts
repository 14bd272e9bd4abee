/** Repeats work that fails, a bounded number of times. */

import { type Backoff, pauseMs } from "./backoff.ts";
import { sleep } from "./sleep.ts";

export interface RetryOptions {
  /** The largest number of attempts. */
  readonly attempts: number;
  /** The pauses between them. */
  readonly backoff: Backoff;
  /** @returns `false` for an error that no later attempt would change. Without it, every error is repeated. */
  readonly isTransient?: (error: unknown) => boolean;
  /** Ends a pause when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * @param work gets the number of attempts before this one: 0 at first.
 * @returns the result of the first attempt that succeeds.
 * @throws the error of the last attempt, or the reason of `signal`.
 */
export async function retry<Result>(
  work: (attempt: number) => Promise<Result>,
  { attempts, backoff, isTransient = () => true, signal }: RetryOptions,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt + 1 >= attempts || !isTransient(error)) throw error;
    }
    await sleep(pauseMs(backoff, attempt), signal);
  }
}
