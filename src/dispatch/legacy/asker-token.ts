/**
 * The progress token of a question, so marked that what the client tells of its progress goes to
 * whoever asked. The client itself sees another token: the session's own.
 */

import { tryJson } from "../../lib/try-json.ts";
import { metaOf } from "../../protocol/envelope.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isRequestId, type RequestId } from "../../protocol/json-rpc.ts";
import { replaceProgressToken } from "../../protocol/progress-token.ts";

/** @returns the question as it was when its asker wants to hear of no progress. */
export function markToken(question: Call, slug: string): Call {
  const token = metaOf(question.params)["progressToken"];
  if (!isRequestId(token)) return question;
  const { params } = replaceProgressToken(question.params, JSON.stringify([slug, token]));
  return params === undefined ? question : { ...question, params };
}

/** @returns whose it is, and their own token with its type. */
export function readToken(
  token: unknown,
): { readonly slug: string; readonly token: RequestId } | undefined {
  const value = typeof token === "string" ? tryJson(token) : undefined;
  if (!Array.isArray(value)) return undefined;
  const [slug, own] = value as readonly unknown[];
  return typeof slug === "string" && isRequestId(own) ? { slug, token: own } : undefined;
}
