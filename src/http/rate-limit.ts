/**
 * Limits the requests of one person, at all endpoints and with all applications together: the principal
 * is one application of a person, and anyone may register another one. Each isolate counts for itself,
 * before it reads a request's body.
 */

import { TokenBuckets } from "../lib/token-bucket.ts";
import { type CallSinks, EVERY_SERVER, recordCall } from "../observability/call-record.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

/** The sender of a request. */
export interface Caller {
  /** The user or service client, to whom limits apply. */
  readonly person: string;
  /** The person's application, as the log names it. */
  readonly principal: string;
  /** The id of that application. */
  readonly application: string | undefined;
}

const MAX_PEOPLE = 10_000;
const buckets = new TokenBuckets(MAX_PEOPLE);

/** @returns the refusal (429), or `undefined` for a request that may pass. */
export function limitRate(
  { method }: Request,
  caller: Caller,
  { requestsPerMinute }: Pick<Limits, "requestsPerMinute">,
  sinks: CallSinks,
): Response | undefined {
  const bucket = buckets.of(caller.person, requestsPerMinute);
  // One line for each series of refusals: a caller in a loop must not fill the log.
  const isKnown = bucket.wasRefused;
  if (bucket.take()) return undefined;
  if (!isKnown) recordRefusal(caller, method, sinks);
  const seconds = Math.max(1, Math.ceil(bucket.waitMs / 1000));
  const message = `More than ${requestsPerMinute} requests in a minute; come back in ${seconds} s`;
  const error = { code: ErrorCode.Transport, message, data: { retryAfter: seconds } };
  return rpcError(429, error, undefined, { "Retry-After": String(seconds) });
}

function recordRefusal(
  { person, principal, application }: Caller,
  method: string,
  sinks: CallSinks,
): void {
  const who = { principal, person, client: application };
  const what = { server: EVERY_SERVER, method, outcome: "refused:rate" } as const;
  recordCall({ at: Date.now(), ...who, ...what, ms: 0, requestBytes: 0, resultBytes: 0 }, sinks);
}
