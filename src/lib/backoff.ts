/** Exponential backoff: each pause before a retry is twice as long as the pause before it. */

export interface Backoff {
  /** In milliseconds. */
  readonly firstMs: number;
  /** The longest pause, in milliseconds; none for a loop that makes only a few attempts. */
  readonly maxMs?: number;
}

/**
 * @param retries how many pauses came before this one: 0 for the first.
 * @returns the pause in milliseconds, never longer than `maxMs`.
 */
export function pauseMs({ firstMs, maxMs = Infinity }: Backoff, retries: number): number {
  return Math.min(firstMs * 2 ** retries, maxMs);
}
