/** The pause before a stream is opened again (HTML Living Standard, 9.2, `retry`). */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { ResumePoint } from "../read-messages.ts";

const MAX_RETRY_MS = 30_000;
const BACKOFF: Backoff = { firstMs: 1000, maxMs: MAX_RETRY_MS };

/**
 * @param failures in a row: without a `retry` of the server's, each doubles the pause.
 * @returns the pause in milliseconds.
 */
export function pauseBefore({ retryMs }: Pick<ResumePoint, "retryMs">, failures = 0): number {
  return Math.min(retryMs ?? pauseMs(BACKOFF, failures), MAX_RETRY_MS);
}
