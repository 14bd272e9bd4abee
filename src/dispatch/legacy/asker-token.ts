/**
 * The progress token of a server's request, marked with the server, so that the client's progress
 * notifications go to the server that asked. The client itself sees the session's own token.
 */

import { tryJson } from "../../lib/try-json.ts";
import { metaOf } from "../../protocol/envelope.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isRequestId, type RequestId } from "../../protocol/json-rpc.ts";
import { replaceProgressToken } from "../../protocol/progress-token.ts";

/** @returns the request unchanged when its server gave no progress token. */
export function markToken(question: Call, slug: string): Call {
  const token = metaOf(question.params)["progressToken"];
  if (!isRequestId(token)) return question;
  const { params } = replaceProgressToken(question.params, JSON.stringify([slug, token]));
  return params === undefined ? question : { ...question, params };
}

/** @returns the server that gave the token, and its own token with its type. */
export function readToken(
  token: unknown,
): { readonly slug: string; readonly token: RequestId } | undefined {
  const value = typeof token === "string" ? tryJson(token) : undefined;
  if (!Array.isArray(value)) return undefined;
  const [slug, own] = value as readonly unknown[];
  return typeof slug === "string" && isRequestId(own) ? { slug, token: own } : undefined;
}
