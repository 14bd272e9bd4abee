/**
 * How a server of one era answers what belongs to the other: by the official SDK's own code, for
 * every other server of that era that people have was written against it.
 */

import { McpServer as LegacyServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

const NAME = { name: "era-filter", version: "1.0.0" };

const modernOnly = createMcpHandler(() => new McpServer(NAME, { capabilities: { tools: {} } }), {
  legacy: "reject",
});

/** A server of SDK 2 that serves 2026-07-28 and nothing else. */
export function refuseLegacy(request: Request): Promise<Response> {
  return modernOnly.fetch(request);
}

/** A server that knows the version header, and not this version: in the words of the SDK of its time. */
export function refuseVersion(supported: readonly string[]): Response {
  const message = `Bad Request: Unsupported protocol version (supported versions: ${supported.join(", ")})`;
  return Response.json(
    { jsonrpc: "2.0", error: { code: -32_000, message }, id: null },
    { status: 400 },
  );
}

/**
 * A server of SDK 1 with sessions, at which none has been opened by the time of this request. With
 * the id of one it looks at the version header first.
 */
export async function refuseModern(request: Request): Promise<Response> {
  const server = new LegacyServer(NAME, { capabilities: { tools: {} } });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => "of-nobody",
  });
  await server.connect(transport);
  return transport.handleRequest(request);
}
