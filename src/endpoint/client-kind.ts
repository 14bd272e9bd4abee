/**
 * The properties of a client that change what servers offer it. Clients of one kind share a catalog.
 */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { LATEST_MODERN, type Revision } from "../protocol/revisions.ts";

/** Servers list by what a client can do, so a catalog is of one kind of client. */
export interface ClientKind {
  readonly revision: Revision;
  /** Only the capabilities that make a difference to servers, in a canonical form. */
  readonly capabilities: JsonObject;
}

/** The client capabilities by which servers choose what they list, and their members that count. */
const RELEVANT: Readonly<Record<string, readonly string[]>> = {
  elicitation: ["form", "url"],
  roots: [],
  sampling: ["context", "tools"],
};

const UI = "io.modelcontextprotocol/ui";
const UI_TYPE = "text/html;profile=mcp-app";

/**
 * Drops every other capability and member that a client declares: a server has as many catalogs as there
 * are kinds, and clients must not be able to make up kinds.
 *
 * @param capabilities as the client declared them.
 */
export function clientKind(revision: Revision, capabilities: JsonObject): ClientKind {
  const relevant: Record<string, JsonObject> = {};
  for (const [name, parts] of Object.entries(RELEVANT)) {
    const declared = capabilities[name];
    if (!isObject(declared)) continue;
    const present = parts.filter((part) => isObject(declared[part]));
    // Without members, the capability means forms (2025-11-25, elicitation).
    if (name === "elicitation" && present.length === 0) present.push("form");
    relevant[name] = Object.fromEntries(present.map((part) => [part, {}]));
  }
  const { extensions } = capabilities;
  const ui = isObject(extensions) ? extensions[UI] : undefined;
  if (isObject(ui)) relevant["extensions"] = { [UI]: relevantUi(ui) };
  return { revision, capabilities: relevant };
}

/** MCP Apps: the types of view that the client shows; there is one type. */
function relevantUi({ mimeTypes }: JsonObject): JsonObject {
  return Array.isArray(mimeTypes) && mimeTypes.includes(UI_TYPE) ? { mimeTypes: [UI_TYPE] } : {};
}

/** The gateway itself: its pages, and its looks at servers that nobody has asked yet, since its pages often come first. */
export const GATEWAY_CLIENT = clientKind(LATEST_MODERN, { elicitation: { form: {}, url: {} } });

/** A text that is equal for clients of one kind, and for no others. */
export function clientKey({ revision, capabilities }: ClientKind): string {
  return JSON.stringify([revision, capabilities]);
}
