/**
 * A stream ends with the token that it was opened with. One that is open for `leaseSeconds` holds a
 * lease: a WebSocket to the object that holds the token's record. The object hibernates beside it,
 * and closes it when the grant, the key or the user ends. Younger streams, which most are, cost
 * nothing and are not closed by the object.
 *
 * So a stream outlives a revocation by `leaseSeconds` + `bearerCacheSeconds` at most (an isolate
 * that still caches the token may open it), and after that only by the time that closing takes. It
 * outlives the expiry of its token by a minute, in which a client gets another.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { endable } from "../../lib/endable.ts";
import { mediaType } from "../../lib/media-type.ts";
import { sleep } from "../../lib/sleep.ts";

export interface Lease {
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The age at which a stream opens its lease, in milliseconds. */
  readonly afterMs: number;
  /** @returns a socket that is closed with `LEASE_ENDED_CODE` when the token ends. */
  readonly open: () => Promise<WebSocket>;
  /** Asks the object that holds the record, not a cache. */
  readonly isGood: () => Promise<boolean>;
}

/** The close code that ends a lease, from the range for applications (RFC 6455 section 7.4.2). */
export const LEASE_ENDED_CODE = 4401;

const GRACE_MS = 60_000;
/** A timer above this fires at once. A stream of 24 days may be opened anew. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** After this many failures, which take some minutes, the stream ends. */
const MAX_FAILURES = 10;
/** A lease that was held for this long counts as no failure. */
const LONG_MS = 60_000;
const BACKOFF: Backoff = { firstMs: 500, maxMs: 60_000 };

/**
 * Only event streams last long enough to need a lease. The client sees a clean end, as if a proxy
 * had closed the connection; its next request, like resuming, is refused with the token.
 *
 * @returns a response whose event stream ends with the token of the request; any other, unchanged.
 */
export function leased(response: Response, lease: Lease): Response {
  const isStream = mediaType(response.headers.get("content-type")) === "text/event-stream";
  if (!isStream || response.body === null) return response;
  const over = new AbortController();
  const { body, end } = endable(response.body, () => over.abort(new Error("The stream is over")));
  leaseEnds(lease, over.signal).then(end, () => undefined);
  return new Response(body, response);
}

/**
 * Resolves when the stream has to end.
 *
 * @throws the abort reason of the signal, once the stream has ended by itself.
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
    const isEnded = await hold(lease, signal).catch(() => false); // the object is not reachable now
    signal.throwIfAborted();
    if (isEnded) return;
    if (Date.now() - openedAt > LONG_MS) failures = 0;
    const pause = pauseMs(BACKOFF, failures);
    // After a restart of an object all its leases are opened again: not all at once.
    await sleep(pause * (0.5 + Math.random()), signal);
  }
}

/** @returns whether the token has ended; `false` when the lease broke. */
async function hold({ open, isGood }: Lease, signal: AbortSignal): Promise<boolean> {
  const socket = await open();
  const closed = closing(socket, signal);
  try {
    // Asked once the socket is open, so that no revocation falls in between.
    return !(await isGood()) || (await closed) === LEASE_ENDED_CODE;
  } finally {
    socket.close();
  }
}

/** @returns the close code of the other side; 0 when the socket broke, or the signal aborted. */
function closing(socket: WebSocket, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    socket.addEventListener("close", ({ code }) => resolve(code), { once: true });
    socket.addEventListener("error", () => resolve(0), { once: true });
    socket.accept();
    if (signal.aborted) resolve(0);
    else signal.addEventListener("abort", () => resolve(0), { once: true });
  });
}
