/**
 * Limits the open streams of one person, and the running requests that may become streams. The limit of a
 * session does not bound a person: `GET /sse` opens a new session each time, and `initialize` costs
 * nothing. Each isolate counts for itself.
 */

import { endable } from "../lib/endable.ts";
import { mediaType } from "../lib/media-type.ts";
import { TimedLeases } from "../lib/timed-leases.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

const RETRY_AFTER_SECONDS = 5;

const places = new TimedLeases<undefined>();

/**
 * Answers a request in one of its person's places, which is held until the answer has ended. GET and
 * POST are counted separately, so that open streams never block a person's calls and answers.
 *
 * @param answer called unless the person has no place left.
 * @returns the answer, or a 429 with `Retry-After`.
 */
export async function inStreamPlace(
  { method }: Request,
  person: string,
  { streamsPerPerson }: Pick<Limits, "streamsPerPerson">,
  answer: () => Promise<Response>,
): Promise<Response> {
  // DELETE makes room, and all other methods are refused later.
  if (method !== "GET" && method !== "POST") return answer();
  const holder = `${method} ${person}`;
  if (places.held(holder).length >= streamsPerPerson) return tooMany(streamsPerPerson);
  const leave = places.take(holder, undefined);
  let isHeld = false;
  try {
    const response = await answer();
    const { body, headers } = response;
    if (body === null || mediaType(headers.get("content-type")) !== "text/event-stream") {
      return response;
    }
    isHeld = true;
    return new Response(endable(body, leave).body, response);
  } finally {
    if (!isHeld) leave();
  }
}

function tooMany(most: number): Response {
  const message = `More than ${most} streams of one person at once; close some, or come back in ${RETRY_AFTER_SECONDS} s`;
  const data = { reason: "overloaded", retryAfter: RETRY_AFTER_SECONDS };
  const error = { code: ErrorCode.Transport, message, data };
  return rpcError(429, error, undefined, { "Retry-After": String(RETRY_AFTER_SECONDS) });
}
