/**
 * Limits the open streams, and the running requests that may become streams: of one person, and of everybody in
 * this isolate. The limit of a session does not bound a person: `GET /sse` opens a new session each time,
 * and `initialize` costs nothing. The limit of the isolate is its memory: beyond that, the platform would end
 * the isolate, and all of its streams with it. Each isolate counts for itself.
 */

import { endable } from "../lib/endable.ts";
import { mediaType } from "../lib/media-type.ts";
import { TimedLeases } from "../lib/timed-leases.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Limits } from "../policy/limits.ts";
import { rpcError } from "./answers.ts";

const RETRY_AFTER_SECONDS = 5;

/** GET and POST are counted separately, so that open streams never block calls and answers. */
const gets = new TimedLeases<undefined>();
const posts = new TimedLeases<undefined>();

type StreamLimits = Pick<Limits, "streamsPerPerson" | "streamsPerIsolate">;

/**
 * Answers a request in one of its person's places, which is held until the answer has ended.
 *
 * @param answer called unless there is no place left.
 * @returns the answer, or a refusal with `Retry-After`: 429 for the person's limit, 503 for the isolate's.
 */
export async function inStreamPlace(
  { method }: Request,
  person: string,
  { streamsPerPerson, streamsPerIsolate }: StreamLimits,
  answer: () => Promise<Response>,
): Promise<Response> {
  // DELETE makes room, and all other methods are refused later.
  if (method !== "GET" && method !== "POST") return answer();
  const taken = method === "GET" ? gets : posts;
  if (taken.held(person).length >= streamsPerPerson) {
    return refuse(
      429,
      `More than ${streamsPerPerson} streams of one person at once; close some, or`,
    );
  }
  if (taken.taken() >= streamsPerIsolate) {
    return refuse(
      503,
      `This instance of the gateway holds ${streamsPerIsolate} streams, its limit;`,
    );
  }
  const leave = taken.take(person, undefined);
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

function refuse(status: 429 | 503, sentence: string): Response {
  const message = `${sentence} come back in ${RETRY_AFTER_SECONDS} s`;
  const data = { reason: "overloaded", retryAfter: RETRY_AFTER_SECONDS };
  const error = { code: ErrorCode.Transport, message, data };
  return rpcError(status, error, undefined, { "Retry-After": String(RETRY_AFTER_SECONDS) });
}
