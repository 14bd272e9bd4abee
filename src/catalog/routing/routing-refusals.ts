/**
 * What is answered in the place of a server. What is forbidden and what is not there get the same
 * bytes, so each is said in one way only.
 */

import { cleanText } from "../../lib/clean-text.ts";
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

/** For completion: what is completed is a template, or a URI. */
export function unknownReference(uri: string): Reply {
  return unknown("resource or template", uri);
}

function unknown(thing: string, name: string): Reply {
  // What is cut anyway need not be cleaned.
  const shown = cleanText(name.slice(0, 4 * MAX_NAME_CHARS), MAX_NAME_CHARS);
  return errorReply(ErrorCode.InvalidParams, `Unknown ${thing}: ${shown}`);
}

/** Legacy has a code of its own for it; in 2026-07-28 it MUST be that of bad params. */
export function resourceNotFound(era: Era, uri: unknown): Reply {
  const code = era === "modern" ? ErrorCode.InvalidParams : ErrorCode.ResourceNotFound;
  return errorReply(code, "Resource not found", { uri });
}

/** @param member of the params. */
export function malformed(member: string, kind = "a string"): Reply {
  return errorReply(ErrorCode.InvalidParams, `params.${member} must be ${kind}`);
}

/** The whole name of what was shortened, or whether there is such a thing, is known by a list only. */
export function unavailable(slug: string, { message, reason }: Trouble): Reply {
  return errorReply(ErrorCode.InternalError, message, { upstream: slug, reason });
}

/** Others here have completions, so the client was told that there are some. */
export function noCompletions(era: Era): Reply {
  const completion = { values: [] };
  return { result: era === "modern" ? { completion, resultType: "complete" } : { completion } };
}
