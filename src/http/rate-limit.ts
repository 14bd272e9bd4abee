/**
 * Limits the requests of one person, at all endpoints and with all applications together: the principal
 * is one application of a person, and anyone may register another one. Each isolate counts for itself,
 * before it reads a request's body.
 */

import { TokenBucket } from "../lib/token-bucket.ts";
import { callLine, EVERY_SERVER } from "../observability/call-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

/** The sender of a request. */
export interface Caller {
  /** The user or service client, to whom limits apply. */
  readonly person: string;
  /** The person's application, as the log names it. */
  readonly principal: string;
}

interface Count {
  readonly bucket: TokenBucket;
  /** A refusal was logged, and no request has passed since. */
  isLogged: boolean;
}

/** Beyond this, the person who called least recently is forgotten; that bucket is mostly full by then. */
const MAX_COUNTS = 10_000;
const counts = new Map<string, Count>();

/** @returns the refusal (429), or `undefined` for a request that may pass. */
export function limitRate(
  { method }: Request,
  { person, principal }: Caller,
  { requestsPerMinute }: Pick<Limits, "requestsPerMinute">,
  now: () => number = () => Date.now(),
): Response | undefined {
  const count = counts.get(person) ?? {
    bucket: new TokenBucket(requestsPerMinute, now),
    isLogged: false,
  };
  // Maps keep insertion order, so the first key is that of the person who called least recently.
  counts.delete(person);
  counts.set(person, count);
  const oldest = counts.keys().next();
  if (counts.size > MAX_COUNTS && oldest.done !== true) counts.delete(oldest.value);

  if (count.bucket.take()) {
    count.isLogged = false;
    return undefined;
  }
  // One line for each series of refusals: a caller in a loop must not fill the log.
  if (!count.isLogged) logRefusal(principal, method);
  count.isLogged = true;
  const seconds = Math.max(1, Math.ceil(count.bucket.waitMs / 1000));
  const message = `More than ${requestsPerMinute} requests in a minute; come back in ${seconds} s`;
  const error = { code: ErrorCode.Transport, message, data: { retryAfter: seconds } };
  return rpcError(429, error, undefined, { "Retry-After": String(seconds) });
}

function logRefusal(principal: string, method: string): void {
  const size = { requestBytes: 0, resultBytes: 0 };
  callLine({ principal, server: EVERY_SERVER, method, ms: 0, outcome: "refused:rate", ...size });
}
