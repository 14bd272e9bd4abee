// The Lantern Teahouse, an MCP server for every revision on one URL: /mcp.
// This Worker only decides which Durable Object answers. A request of the 2026 revision carries
// all it needs and goes to the one Teahouse; an older one belongs to a session.

import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { type LegacySession, rpcError, sessionNotFound } from "./legacy-session.ts";
import type { Teahouse } from "./teahouse.ts";

export { LegacySession } from "./legacy-session.ts";
export { Teahouse } from "./teahouse.ts";

interface Env {
  TEAHOUSE: DurableObjectNamespace<Teahouse>;
  SESSIONS: DurableObjectNamespace<LegacySession>;
}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/mcp") {
      return new Response("The teahouse is at /mcp.\n", { status: 404 });
    }
    // Browsers always name the page that sends a request. Only local pages may: this keeps a
    // stranger's page from talking to a teahouse on your own machine (DNS rebinding).
    const stranger = originValidationResponse(request, localhostAllowedOrigins());
    if (stranger) return stranger;

    const era = await classify(request);
    // Refused requests go to the Teahouse too: the SDK there words the refusal.
    if (era?.kind !== "legacy") return env.TEAHOUSE.getByName("the-one").fetch(request);

    if (era.reason === "initialize") {
      const fresh = new Request(request);
      fresh.headers.delete("mcp-session-id");
      return env.SESSIONS.get(env.SESSIONS.newUniqueId()).fetch(fresh);
    }
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId === null) return rpcError(400, -32000, "Bad Request: Mcp-Session-Id is required");
    return findSession(env, sessionId)?.fetch(request) ?? sessionNotFound();
  },
} satisfies ExportedHandler<Env>;

/** Which era a request speaks, by the SDK's own rules; undefined when the body is no JSON. */
async function classify(request: Request): Promise<InboundClassificationOutcome | undefined> {
  let body: unknown;
  if (request.method === "POST") {
    try {
      // A clone, because the object that answers wants to read the body as well.
      body = await request.clone().json();
    } catch {
      return undefined;
    }
  }
  const version = request.headers.get("mcp-protocol-version");
  const method = request.headers.get("mcp-method");
  const name = request.headers.get("mcp-name");
  return classifyInboundRequest({
    httpMethod: request.method,
    ...(version !== null && { protocolVersionHeader: version }),
    ...(method !== null && { mcpMethodHeader: method }),
    ...(name !== null && { mcpNameHeader: name }),
    body,
  });
}

/** A session's id is the id of its object. An id we never made throws, and wakes no object. */
function findSession(env: Env, sessionId: string): DurableObjectStub<LegacySession> | undefined {
  try {
    return env.SESSIONS.get(env.SESSIONS.idFromString(sessionId));
  } catch {
    return undefined;
  }
}
