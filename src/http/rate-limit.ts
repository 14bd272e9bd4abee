/**
 * How often one person may call, whatever they call and with whichever application: the principal is
 * the application of a person, and anybody may register another one. Each isolate counts for itself,
 * before anything of a request is read.
 */

import { TokenBucket } from "../lib/token-bucket.ts";
import { callLine, EVERY_SERVER } from "../observability/call-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

/** Who sends a request. */
export interface Caller {
  /** The user, or the service client: whom limits are counted for. */
  readonly person: string;
  /** The person's application: who is named in the log. */
  readonly principal: string;
}

interface Count {
  readonly bucket: TokenBucket;
  /** It was told already, and has not waited since. */
  isTold: boolean;
}

/** Whoever was not here for the longest time is forgotten: mostly, it has a full bucket by then. */
const MAX_COUNTS = 10_000;
const counts = new Map<string, Count>();

/** @returns the refusal, or `undefined` for a request that may pass. */
export function limitRate(
  { method }: Request,
  { person, principal }: Caller,
  { requestsPerMinute }: Pick<Limits, "requestsPerMinute">,
  now: () => number = () => Date.now(),
): Response | undefined {
  const count = counts.get(person) ?? {
    bucket: new TokenBucket(requestsPerMinute, now),
    isTold: false,
  };
  // Maps keep insertion order, so the first key is that of who was not here for the longest time.
  counts.delete(person);
  counts.set(person, count);
  const oldest = counts.keys().next();
  if (counts.size > MAX_COUNTS && oldest.done !== true) counts.delete(oldest.value);

  if (count.bucket.take()) {
    count.isTold = false;
    return undefined;
  }
  // One line for each time that it begins: a caller in a loop must not fill the log.
  if (!count.isTold) logRefusal(principal, method);
  count.isTold = true;
  const seconds = Math.max(1, Math.ceil(count.bucket.waitMs / 1000));
  const message = `More than ${requestsPerMinute} requests in a minute; come back in ${seconds} s`;
  const error = { code: ErrorCode.Transport, message, data: { retryAfter: seconds } };
  return rpcError(429, error, undefined, { "Retry-After": String(seconds) });
}

function logRefusal(principal: string, method: string): void {
  const size = { requestBytes: 0, resultBytes: 0 };
  callLine({ principal, server: EVERY_SERVER, method, ms: 0, outcome: "refused:rate", ...size });
}
