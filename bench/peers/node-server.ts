/**
 * The official SDK's Streamable HTTP server on Node: sessions for older clients, as its
 * documentation has them, and the stateless handler for clients of 2026-07-28. It keeps events for
 * clients that come back if its second argument is `resumable`; most servers do not.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { InMemoryEventStore } from "mcp-proxy";

import { buildServer } from "./build-server.ts";

/** More than the longest stream of the benchmark has. */
const KEPT_EVENTS = 20_000;

const isResumable = process.argv[3] === "resumable";
const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
const modern = toNodeHandler(createMcpHandler(() => buildServer(), { legacy: "reject" }));
type ModernRequest = Parameters<typeof modern>[0];

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.headers["mcp-protocol-version"] === "2026-07-28") {
    return modern(request as ModernRequest, response);
  }
  if (request.url === "/health") return void response.end("ok");
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  if (known !== undefined) return known.handleRequest(request, response);
  const body = await json(request);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    ...(isResumable ? { eventStore: new InMemoryEventStore({ maxEvents: KEPT_EVENTS }) } : {}),
    onsessioninitialized: (opened) => void sessions.set(opened, transport),
  });
  await buildServer().connect(transport);
  return transport.handleRequest(request, response, body);
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[2]), "127.0.0.1");
