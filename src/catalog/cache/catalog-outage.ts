/**
 * The outage of a catalog: why it could not be read, and when it is read again. There is one for each kind of
 * client: a server that hangs for requests of one era may work in the other.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { Trouble } from "../catalog.ts";

export interface Outage {
  readonly trouble: Trouble;
  /** Consecutive failures; 0 when a caller reported it and the catalog was not read since. */
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** Before this time the server is not asked, and callers get the trouble at once. */
  readonly retryAt: number;
}

const FIRST_PAUSE_MS = 1000;
const BACKOFF: Backoff = { firstMs: FIRST_PAUSE_MS, maxMs: 60_000 };

export function afterFailure(
  before: Outage | undefined,
  { reason, message }: Omit<Trouble, "since">,
  now: number,
): Outage {
  const failures = (before?.failures ?? 0) + 1;
  const pause = pauseMs(BACKOFF, failures - 1);
  const trouble = { reason, message, since: before?.trouble.since ?? now };
  return { trouble, failures, failedAt: now, retryAt: now + pause };
}

/** @returns whether the server may be asked. A clock that was set back delays no caller for long. */
export function isOverdue({ failedAt, retryAt }: Outage, now: number): boolean {
  return now >= retryAt || now < failedAt;
}

/** The outage after a caller reports that the server is unavailable. */
export function afterReport(trouble: Trouble, now: number): Outage {
  return { trouble, failures: 0, failedAt: now, retryAt: now + FIRST_PAUSE_MS };
}

/** The server has just answered another caller, so it is tried again after the first pause. */
export function hurried(outage: Outage): Outage {
  const retryAt = Math.min(outage.retryAt, outage.failedAt + FIRST_PAUSE_MS);
  return { ...outage, retryAt };
}
