/**
 * What of a client makes a difference to what servers offer it. Clients that are alike in this share
 * a catalog.
 */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import type { Revision } from "../protocol/revisions.ts";

/** Servers list by what a client can do, so a catalog is of one kind of client. */
export interface ClientKind {
  readonly revision: Revision;
  /** Only what makes a difference to servers spelt in one way. */
  readonly capabilities: JsonObject;
}

/** Capabilities of a client by which servers choose what they list, and their parts that count. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  elicitation: ["form", "url"],
  roots: [],
  sampling: ["context", "tools"],
};

const UI = "io.modelcontextprotocol/ui";
const UI_TYPE = "text/html;profile=mcp-app";

/**
 * Whatever else a client declares beside, or within, what counts is left out: there are as many
 * catalogs of a server as there are kinds, and clients must not be able to make up kinds.
 *
 * @param capabilities as the client declared them.
 */
export function clientKind(revision: Revision, capabilities: JsonObject): ClientKind {
  const telling: Record<string, JsonObject> = {};
  for (const [name, parts] of Object.entries(TELLING)) {
    const declared = capabilities[name];
    if (!isObject(declared)) continue;
    const told = parts.filter((part) => isObject(declared[part]));
    // Nothing said of it means forms (2025-11-25, elicitation).
    if (name === "elicitation" && told.length === 0) told.push("form");
    telling[name] = Object.fromEntries(told.map((part) => [part, {}]));
  }
  const extensions = capabilities["extensions"];
  const ui = isObject(extensions) ? extensions[UI] : undefined;
  if (isObject(ui)) telling["extensions"] = { [UI]: uiTelling(ui) };
  return { revision, capabilities: telling };
}

/** MCP Apps: what types of view the client shows; there is one. */
function uiTelling({ mimeTypes }: JsonObject): JsonObject {
  return Array.isArray(mimeTypes) && mimeTypes.includes(UI_TYPE) ? { mimeTypes: [UI_TYPE] } : {};
}

/** The same text for clients of one kind, and for no others. */
export function clientKey({ revision, capabilities }: ClientKind): string {
  return JSON.stringify([revision, capabilities]);
}
