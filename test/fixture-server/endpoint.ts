// The one URL of the fixture. Guards it, reads the body once, and hands each request to the era
// that it belongs to: sessions (2024-11-05 to 2025-11-25) or stateless serving (2026-07-28).

import {
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { rejectForeign } from "./guard.ts";
import { rpcError, withoutNullId } from "./rpc-error.ts";
import { buildServer } from "./server.ts";
import { createSessions } from "./sessions.ts";
import { TaskStore } from "./tasks/task-store.ts";
import { buildTaskServer, isForTasks, withTasks } from "./tasks/task-server.ts";
import { newWorld } from "./world.ts";

const MODERN = "2026-07-28";

export interface Endpoint {
  fetch: (request: Request) => Promise<Response>;
  close: () => Promise<void>;
}

export function createEndpoint(): Endpoint {
  const world = newWorld();
  const modern = createMcpHandler(() => withTasks(buildServer(world)), {
    ...{ legacy: "reject", bus: world.bus },
  });
  const tasks = new TaskStore();
  const modernTasks = createMcpHandler(() => buildTaskServer(tasks), { legacy: "reject" });
  const sessions = createSessions(world);

  async function answer(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
    const rejected = rejectForeign(request);
    if (rejected !== undefined) return rejected;
    const body = request.method === "POST" ? await readJson(request) : undefined;
    if (body instanceof Response) return body;
    const parsed = body === undefined ? {} : { parsedBody: body };
    if (!isModern(request, body)) return sessions.fetch(request, parsed);
    return (isForTasks(body) ? modernTasks : modern).fetch(request, parsed);
  }

  return {
    fetch: async (request) => withoutNullId(await answer(request)),
    async close() {
      await Promise.all([sessions.close(), modern.close(), modernTasks.close()]);
    },
  };
}

/** The parsed body of a POST, or the refusal to send back. */
async function readJson(request: Request): Promise<unknown> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return rpcError(415, -32000, "Content-Type must be application/json");
  }
  const body = await readRequestBody(request);
  if (body.tooLarge) return rpcError(413, -32000, "The request body is too large");
  try {
    return JSON.parse(body.text);
  } catch {
    return rpcError(400, -32700, "The request body is not JSON");
  }
}

function isModern(request: Request, body: unknown): boolean {
  const protocolVersionHeader = request.headers.get("mcp-protocol-version");
  const mcpMethodHeader = request.headers.get("mcp-method");
  const mcpNameHeader = request.headers.get("mcp-name");
  const era = classifyInboundRequest({
    httpMethod: request.method,
    ...(protocolVersionHeader !== null && { protocolVersionHeader }),
    ...(mcpMethodHeader !== null && { mcpMethodHeader }),
    ...(mcpNameHeader !== null && { mcpNameHeader }),
    ...(body !== undefined && { body }),
  });
  // Malformed modern requests ("reject") are answered by the modern side too: it owns those errors.
  if (era.kind !== "legacy") return true;
  // A GET or DELETE has no body that shows its era; there the version header decides.
  return era.reason === "http-method" && protocolVersionHeader === MODERN;
}
