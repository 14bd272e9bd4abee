/**
 * Limits the requests of one person, at all endpoints and with all applications together: the principal
 * is one application of a person, and anyone may register another one. Each isolate counts for itself,
 * before it reads a request's body.
 */

import { TokenBuckets } from "../lib/token-bucket.ts";
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

const MAX_PEOPLE = 10_000;
const buckets = new TokenBuckets(MAX_PEOPLE);

/** @returns the refusal (429), or `undefined` for a request that may pass. */
export function limitRate(
  { method }: Request,
  { person, principal }: Caller,
  { requestsPerMinute }: Pick<Limits, "requestsPerMinute">,
): Response | undefined {
  const bucket = buckets.of(person, requestsPerMinute);
  // One line for each series of refusals: a caller in a loop must not fill the log.
  const isKnown = bucket.wasRefused;
  if (bucket.take()) return undefined;
  if (!isKnown) logRefusal(principal, method);
  const seconds = Math.max(1, Math.ceil(bucket.waitMs / 1000));
  const message = `More than ${requestsPerMinute} requests in a minute; come back in ${seconds} s`;
  const error = { code: ErrorCode.Transport, message, data: { retryAfter: seconds } };
  return rpcError(429, error, undefined, { "Retry-After": String(seconds) });
}

function logRefusal(principal: string, method: string): void {
  const size = { requestBytes: 0, resultBytes: 0 };
  callLine({ principal, server: EVERY_SERVER, method, ms: 0, outcome: "refused:rate", ...size });
}
