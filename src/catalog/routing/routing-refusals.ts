/**
 * The gateway's answers in place of a server. Forbidden and unknown items get the same bytes, so
 * each answer has one form only.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { SERVERS_UNKNOWN } from "../../endpoint/endpoint.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Trouble } from "../catalog.ts";
import type { NamedKind } from "../names/naming.ts";

const MAX_NAME_CHARS = 128;

const THINGS: Readonly<Record<NamedKind, string>> = { tools: "tool", prompts: "prompt" };

/** @param name as the client sent it. */
export function unknownName(kind: NamedKind, name: string): Reply {
  return unknown(THINGS[kind], name);
}

/** Where nobody could be asked what operators have added. */
export function serversUnknown(): Reply {
  return errorReply(ErrorCode.InternalError, SERVERS_UNKNOWN);
}

/** For completion of a template or a URI. */
export function unknownReference(uri: string): Reply {
  return unknown("resource or template", uri);
}

function unknown(thing: string, name: string): Reply {
  // Text beyond the limit need not be cleaned.
  const shown = cleanText(name.slice(0, 4 * MAX_NAME_CHARS), MAX_NAME_CHARS);
  return errorReply(ErrorCode.InvalidParams, `Unknown ${thing}: ${shown}`);
}

/** Legacy revisions have a code of their own; in 2026-07-28 it MUST be that of invalid params. */
export function resourceNotFound(era: Era, uri: unknown): Reply {
  const code = era === "modern" ? ErrorCode.InvalidParams : ErrorCode.ResourceNotFound;
  return errorReply(code, "Resource not found", { uri });
}

/** @param member of the params. */
export function malformed(member: string, kind = "a string"): Reply {
  return errorReply(ErrorCode.InvalidParams, `params.${member} must be ${kind}`);
}

/** Only an unavailable list could show the full name of a short one, or whether the item exists. */
export function unavailable(slug: string, { message, reason }: Trouble): Reply {
  return errorReply(ErrorCode.InternalError, message, { upstream: slug, reason });
}

/** Other servers of the endpoint have completions, so it advertises them to the client. */
export function noCompletions(era: Era): Reply {
  const completion = { values: [] };
  return { result: era === "modern" ? { completion, resultType: "complete" } : { completion } };
}
