/**
 * How often one principal may call, whatever it calls. It is counted in each isolate for itself,
 * before anything of a request is read.
 */

import { TokenBucket } from "../lib/token-bucket.ts";
import { callLine, EVERY_SERVER } from "../observability/call-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

interface Caller {
  readonly bucket: TokenBucket;
  /** It was told already, and has not waited since. */
  isTold: boolean;
}

/** Whoever was not here for the longest time is forgotten: mostly, it has a full bucket by then. */
const MAX_CALLERS = 10_000;
const callers = new Map<string, Caller>();

/** @returns the refusal, or `undefined` for a request that may pass. */
export function limitRate(
  { method }: Request,
  principal: string,
  { requestsPerMinute }: Pick<Limits, "requestsPerMinute">,
  now: () => number = () => Date.now(),
): Response | undefined {
  const caller = callers.get(principal) ?? {
    bucket: new TokenBucket(requestsPerMinute, now),
    isTold: false,
  };
  // Maps keep insertion order, so the first key is that of who was not here for the longest time.
  callers.delete(principal);
  callers.set(principal, caller);
  const oldest = callers.keys().next();
  if (callers.size > MAX_CALLERS && oldest.done !== true) callers.delete(oldest.value);

  if (caller.bucket.take()) {
    caller.isTold = false;
    return undefined;
  }
  // One line for each time that it begins: a caller in a loop must not fill the log.
  if (!caller.isTold) logRefusal(principal, method);
  caller.isTold = true;
  const seconds = Math.max(1, Math.ceil(caller.bucket.waitMs / 1000));
  const message = `More than ${requestsPerMinute} requests in a minute; come back in ${seconds} s`;
  const error = { code: ErrorCode.Transport, message, data: { retryAfter: seconds } };
  return rpcError(429, error, undefined, { "Retry-After": String(seconds) });
}

function logRefusal(principal: string, method: string): void {
  const size = { requestBytes: 0, resultBytes: 0 };
  callLine({ principal, server: EVERY_SERVER, method, ms: 0, outcome: "refused:rate", ...size });
}
