/**
 * Names the server at an endpoint of several servers: in its results, and in its questions, both in the
 * text that a person reads and for programs in `_meta`. The text for a model is the server's own, and
 * stays unchanged.
 */

import { metaOf, withMeta } from "../protocol/envelope.ts";
import type { Call } from "../protocol/exchange.ts";
import {
  dataOf,
  type ErrorObject,
  isObject,
  type JsonObject,
  type Reply,
} from "../protocol/json-rpc.ts";
import type { Result } from "../protocol/message-members.ts";
import type { Endpoint } from "./endpoint.ts";

/** The key in `_meta` for the slug of the server that a result comes from. */
export const SERVER_KEY = "edgeway/server";

/** Sets the server's slug in a result's `_meta`, and replaces any value that the server put there. */
export function attributed(result: JsonObject, slug: string): JsonObject {
  return { ...result, _meta: { ...metaOf(result), [SERVER_KEY]: slug } };
}

/** Attributes a reply at a merged endpoint. Results of an endpoint's only server stay as they are. */
export function attributedAt(
  { isMerged }: Pick<Endpoint, "isMerged">,
  slug: string,
  reply: Reply,
): Reply {
  return isMerged && "result" in reply ? { result: attributed(reply.result, slug) } : reply;
}

/** @param call `elicitation/create`, `sampling/createMessage` or `roots/list`, of either era. */
export function attributedQuestion({ method, params }: Call, slug: string): Call {
  const named = withMeta(params, { ...metaOf(params), [SERVER_KEY]: slug });
  return { method, params: method === "elicitation/create" ? prefixed(named, slug) : named };
}

/** Names the asker in a result that asks for input (2026-07-28, MRTR); other results stay unchanged. */
export function attributedInputRequests(result: Result, slug: string): Result {
  const { inputRequests } = result;
  if (!isObject(inputRequests)) return result;
  const named = Object.entries(inputRequests).map(([key, request]) => [
    key,
    attributedInputRequest(request, slug),
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
}

/** Names the asker in an error that asks for visits to pages (2025-11-25, -32042). */
export function attributedElicitations(error: ErrorObject, slug: string): ErrorObject {
  const data = dataOf(error);
  const { elicitations } = data;
  if (!Array.isArray(elicitations)) return error;
  const named = elicitations.map((asked: unknown) =>
    isObject(asked) ? prefixed(asked, slug) : asked,
  );
  return { ...error, data: { ...data, elicitations: named } };
}

/** An invalid request is the server's mistake, and stays unchanged. */
function attributedInputRequest(request: unknown, slug: string): unknown {
  if (!isObject(request)) return request;
  const { method, params } = request;
  if (typeof method !== "string" || (params !== undefined && !isObject(params))) return request;
  return {
    ...request,
    ...attributedQuestion(params === undefined ? { method } : { method, params }, slug),
  };
}

function prefixed(params: JsonObject, slug: string): JsonObject {
  const { message } = params;
  return typeof message === "string" ? { ...params, message: `[${slug}] ${message}` } : params;
}
