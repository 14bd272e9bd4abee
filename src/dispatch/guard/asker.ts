/**
 * Shows the client which server asks: in words where a person reads them, and for programs in
 * `_meta`. What a model is to read is the server's own, and stays as it is.
 */

import { SERVER_KEY } from "../../endpoint/attribution.ts";
import { metaOf, withMeta } from "../../protocol/envelope.ts";
import type { Call } from "../../protocol/exchange.ts";
import { type ErrorObject, isObject, type JsonObject } from "../../protocol/json-rpc.ts";

/** @param call `elicitation/create`, `sampling/createMessage` or `roots/list`, of either era. */
export function namingAsker({ method, params }: Call, slug: string): Call {
  const named = withMeta(params, { ...metaOf(params), [SERVER_KEY]: slug });
  return { method, params: method === "elicitation/create" ? prefixed(named, slug) : named };
}

/** The questions in a result that asks for input (2026-07-28, MRTR); any other stays as it is. */
export function namingInputRequests(result: JsonObject, slug: string): JsonObject {
  const requests = result["inputRequests"];
  if (!isObject(requests)) return result;
  const named = Object.entries(requests).map(([key, request]) => [
    key,
    namingRequest(request, slug),
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
}

/** The questions in an error that asks for visits to pages (2025-11-25, -32042). */
export function namingElicitations(error: ErrorObject, slug: string): ErrorObject {
  const data = isObject(error.data) ? error.data : {};
  const elicitations: unknown = data["elicitations"];
  if (!Array.isArray(elicitations)) return error;
  const named = elicitations.map((asked: unknown) =>
    isObject(asked) ? prefixed(asked, slug) : asked,
  );
  return { ...error, data: { ...data, elicitations: named } };
}

/** One that is none is the server's mistake, for the client to judge. */
function namingRequest(request: unknown, slug: string): unknown {
  if (!isObject(request) || typeof request["method"] !== "string") return request;
  const { method, params } = request;
  if (params !== undefined && !isObject(params)) return request;
  return {
    ...request,
    ...namingAsker(params === undefined ? { method } : { method, params }, slug),
  };
}

function prefixed(params: JsonObject, slug: string): JsonObject {
  const { message } = params;
  return typeof message === "string" ? { ...params, message: `[${slug}] ${message}` } : params;
}
