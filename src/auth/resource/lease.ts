/**
 * A stream ends with the token that it was opened with. One that is open for `leaseSeconds` holds
 * a lease: a WebSocket to the object that holds the token's record, which sleeps beside it and
 * closes it when the grant, the key or the user ends. Younger streams, which most are, cost
 * nothing and are not told.
 *
 * So a stream outlives a revocation by `leaseSeconds` + `bearerCacheSeconds` at the most (it may be
 * opened by an isolate that has not heard of it yet), and from then on by no more than it takes to
 * tell. It outlives the expiry of its token by a minute, in which a client gets another.
 */

import { sleep } from "../../lib/sleep.ts";

export interface Lease {
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** How old a stream becomes without one. */
  readonly afterMs: number;
  /** @returns a socket that is closed with `LEASE_ENDED_CODE` when the token ends. */
  readonly open: () => Promise<WebSocket>;
  /** Asks whoever holds the record, not a cache. */
  readonly isGood: () => Promise<boolean>;
}

/** The code with which a lease is ended, of the application's own (RFC 6455 section 7.4.2). */
export const LEASE_ENDED_CODE = 4401;

const GRACE_MS = 60_000;
/** Above it a timer rings at once. A stream of 24 days may be opened anew. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Until nobody knows any more whether the token is good: some minutes. */
const MAX_FAILURES = 10;
/** A lease that was held for so long did not fail. */
const LONG_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

/**
 * @returns when the stream has to end.
 * @throws the abort reason, once the stream has ended by itself.
 */
export async function leaseEnds(lease: Lease, signal: AbortSignal): Promise<void> {
  const graceMs = lease.expiresAt + GRACE_MS - Date.now();
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([sleep(Math.min(graceMs, MAX_TIMER_MS), both), revoked(lease, both)]);
  } finally {
    over.abort(new Error("The lease is over"));
  }
}

async function revoked(lease: Lease, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(lease.afterMs, MAX_TIMER_MS), signal);
  for (let failures = 0; failures < MAX_FAILURES; failures++) {
    const openedAt = Date.now();
    const isEnded = await hold(lease, signal).catch(() => false); // it cannot be had just now
    signal.throwIfAborted();
    if (isEnded) return;
    if (Date.now() - openedAt > LONG_MS) failures = 0;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);
    // All who held a lease of an object that was restarted come back; not all at once.
    await sleep(pause * (0.5 + Math.random()), signal);
  }
}

/** @returns whether the token has ended; `false` when the lease broke. */
async function hold({ open, isGood }: Lease, signal: AbortSignal): Promise<boolean> {
  const socket = await open();
  const closed = closing(socket, signal);
  try {
    // Asked once it is open: no revocation falls in between.
    return !(await isGood()) || (await closed) === LEASE_ENDED_CODE;
  } finally {
    socket.close();
  }
}

/** @returns the code with which the other side closes a socket; 0 when it broke, or the signal came. */
function closing(socket: WebSocket, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    socket.addEventListener("close", ({ code }) => resolve(code), { once: true });
    socket.addEventListener("error", () => resolve(0), { once: true });
    socket.accept();
    if (signal.aborted) resolve(0);
    else signal.addEventListener("abort", () => resolve(0), { once: true });
  });
}
