// Legacy serving: one server instance and one SDK transport per session, from initialize to DELETE.
// Change events reach a session as plain notifications on its GET stream.

import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { HandleRequestOptions, McpServer, ServerEvent } from "@modelcontextprotocol/server";
import { createEventStore } from "./event-store.ts";
import { rpcError } from "./rpc-error.ts";
import { buildServer } from "./server.ts";
import type { World } from "./world.ts";

/** How soon a client should come back after its stream was closed: short, to keep tests quick. */
const RETRY_MS = 500;

export interface Sessions {
  fetch: (request: Request, options: HandleRequestOptions) => Promise<Response>;
  close: () => Promise<void>;
}

export function createSessions(world: World): Sessions {
  const open = new Map<string, WebStandardStreamableHTTPServerTransport>();

  async function initialize(request: Request, options: HandleRequestOptions): Promise<Response> {
    const server = buildServer(world);
    const watched = trackSubscriptions(server);
    const stopListening = world.bus.subscribe((event) => forward(server, watched, event));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => void open.set(id, transport),
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's hook, not an event
    server.server.onclose = () => {
      stopListening();
      if (transport.sessionId !== undefined) open.delete(transport.sessionId);
    };
    await server.connect(transport);
    const response = await transport.handleRequest(request, options);
    // A refused initialize (a wrong Accept header, say) opens no session: leave nothing behind.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  return {
    async fetch(request, options) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        return isInitializeRequest(options.parsedBody)
          ? initialize(request, options)
          : rpcError(400, -32000, "Mcp-Session-Id is required");
      }
      const transport = open.get(id);
      return transport?.handleRequest(request, options) ?? rpcError(404, -32001, "No such session");
    },
    async close() {
      await Promise.all([...open.values()].map((transport) => transport.close()));
    },
  };
}

/** Serves resources/subscribe and resources/unsubscribe; returns the live set of watched URIs. */
function trackSubscriptions(server: McpServer): ReadonlySet<string> {
  const watched = new Set<string>();
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  return watched;
}

export function forward(server: McpServer, watched: ReadonlySet<string>, event: ServerEvent): void {
  switch (event.kind) {
    case "tools_list_changed":
      return server.sendToolListChanged();
    case "prompts_list_changed":
      return server.sendPromptListChanged();
    case "resources_list_changed":
      return server.sendResourceListChanged();
    case "resource_updated":
      if (watched.has(event.uri)) void server.server.sendResourceUpdated({ uri: event.uri });
  }
}
