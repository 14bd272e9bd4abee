/** What a client of each era must find, or not find, on every reply: looked at on the wire. */

import type { Client, Json } from "../support/clients-face.ts";
import { isLegacy, type Revision } from "../support/revisions.ts";

const STAMPS = ["resultType", "ttlMs", "cacheScope", "inputRequests", "requestState"] as const;
const ENVELOPE = /^io\.modelcontextprotocol\/(?!related-task)/;

/** @returns what is wrong; nothing is right. */
export function wireFaultsOf({ replies, errors }: Client, revision: Revision): readonly string[] {
  const results = replies.filter((reply) => !("error" in reply));
  const faults = isLegacy(revision) ? results.flatMap(modernTraces) : results.flatMap(unstamped);
  return [...faults, ...errors.map(String)];
}

function modernTraces(result: Json): readonly string[] {
  const meta = Object.keys((result["_meta"] ?? {}) as Json).filter((key) => ENVELOPE.test(key));
  return [...STAMPS.filter((stamp) => stamp in result), ...meta];
}

function unstamped(result: Json): readonly string[] {
  return typeof result["resultType"] === "string"
    ? []
    : [`no resultType in ${JSON.stringify(result).slice(0, 200)}`];
}
