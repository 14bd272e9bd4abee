/** How long to wait before a stream is opened again (SSE, `retry`). */

import type { ResumePoint } from "../read-messages.ts";

const DEFAULT_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/**
 * @param failures in a row: without a word of the server's, the pause is twice as long each time.
 * @returns milliseconds.
 */
export function pauseBefore({ retryMs }: Pick<ResumePoint, "retryMs">, failures = 0): number {
  return Math.min(retryMs ?? DEFAULT_RETRY_MS * 2 ** Math.min(failures, 5), MAX_RETRY_MS);
}
