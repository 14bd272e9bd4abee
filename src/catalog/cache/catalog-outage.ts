/**
 * That a catalog could not be had, and when it is tried again. One for each kind of client: a
 * server that hangs when it is spoken to in one era may be well in the other.
 */

import type { Trouble } from "../catalog.ts";

export interface Outage {
  readonly trouble: Trouble;
  /** In a row; 0 when a caller told of it, and nothing was tried here since. */
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** Before this, nothing is asked of the server: whoever wants to know is told at once. */
  readonly retryAt: number;
}

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

export function afterFailure(
  before: Outage | undefined,
  { reason, message }: Omit<Trouble, "since">,
  now: number,
): Outage {
  const failures = (before?.failures ?? 0) + 1;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
  const trouble = { reason, message, since: before?.trouble.since ?? now };
  return { trouble, failures, failedAt: now, retryAt: now + pause };
}

/** Whether the server may be asked. A clock that was set back makes nobody wait for long. */
export function isOverdue({ failedAt, retryAt }: Outage, now: number): boolean {
  return now >= retryAt || now < failedAt;
}

/** A caller found the server gone. */
export function afterReport(trouble: Trouble, now: number): Outage {
  return { trouble, failures: 0, failedAt: now, retryAt: now + FIRST_PAUSE_MS };
}

/** The server was well a moment ago, for somebody: it is tried again as soon as is decent. */
export function hurried(outage: Outage): Outage {
  const retryAt = Math.min(outage.retryAt, outage.failedAt + FIRST_PAUSE_MS);
  return { ...outage, retryAt };
}
