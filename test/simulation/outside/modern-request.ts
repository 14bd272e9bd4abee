/** A request of 2026-07-28, with the headers that belong to its body. */

import type { Json } from "./actor.ts";
import type { Door } from "./door.ts";

const REVISION = "2026-07-28";

export interface ModernRequest {
  readonly client: string;
  readonly id: number | string;
  readonly method: string;
  readonly params: Json;
}

/** @returns the answer of the gateway. Rejects when the connection breaks before it. */
export function sendModern(door: Door, request: ModernRequest): Promise<Response> {
  const { client, id, method, params } = request;
  const given = params["_meta"] as Json | undefined;
  const _meta = {
    ...given,
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: client, version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const { name, uri } = params as { readonly name?: string; readonly uri?: string };
  const subject = name ?? uri;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
    "mcp-method": method,
    ...(subject === undefined ? {} : { "mcp-name": subject }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  return door.request(door.path, { method: "POST", headers, body });
}
