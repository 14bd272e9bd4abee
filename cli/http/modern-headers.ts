/**
 * The headers that mirror a message of 2026-07-28 (Streamable HTTP, request metadata). On stdio there is no header
 * layer, so a host does not know them.
 */

import { Meta } from "../../src/protocol/envelope.ts";
import { encodeHeaderValue } from "../../src/protocol/header-value.ts";
import { mirroredNameOf } from "../../src/protocol/mirrored-name.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";

/** True for the message of a client of 2026-07-28 or later: each one says its revision. */
export function isModern({ params }: { readonly params: JsonObject }): boolean {
  return revisionOf(params) !== undefined;
}

export function modernHeaders(method: string, params: JsonObject): Record<string, string> {
  const revision = revisionOf(params);
  const member = mirroredNameOf(method);
  const name = member === undefined ? undefined : params[member];
  return {
    ...(typeof revision === "string" && { "mcp-protocol-version": encodeHeaderValue(revision) }),
    "mcp-method": encodeHeaderValue(method),
    ...(typeof name === "string" && { "mcp-name": encodeHeaderValue(name) }),
  };
}

function revisionOf({ _meta: meta }: JsonObject): unknown {
  return isObject(meta) ? meta[Meta.protocolVersion] : undefined;
}
