/** How a scripted upstream meets a request that its script says nothing of: as a good server would. */

import type { ServerResponse } from "node:http";

import type { Json, Reaction, Recorded, Script } from "./scripted-upstream-script.ts";
import type { World } from "./scripted-upstream-world.ts";

const MODERN = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SERVER_INFO = { name: "scripted", version: "1.2.3" };
const EVENT_STREAM = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
};

/** @returns what to answer, or `undefined` when the answer was taken care of. */
export function usualReaction(
  world: World,
  path: string,
  record: Recorded,
  response: ServerResponse,
): Reaction | undefined {
  switch (world.script.server) {
    case "sse":
      return sse(world, path, record, response);
    case "legacy":
      return legacy(world, record, response);
    case "modern":
      return modern(world, record, response);
    case "dual": {
      const meta = record.body?.params?.["_meta"] as Json | undefined;
      return meta?.[VERSION_KEY] === undefined
        ? legacy(world, record, response)
        : modern(world, record, response);
    }
  }
}

function json(status: number, body: Json, headers: Record<string, string> = {}): Reaction {
  return {
    status,
    headers: { "Content-Type": "application/json", ...headers },
    pieces: [JSON.stringify({ jsonrpc: "2.0", ...body })],
  };
}

function error(status: number, id: unknown, code: number, message: string, data?: Json): Reaction {
  const error = data === undefined ? { code, message } : { code, message, data };
  return json(status, id === undefined ? { error } : { id, error });
}

function legacy(world: World, record: Recorded, response: ServerResponse): Reaction | undefined {
  const { method, body, headers } = record;
  if (method === "POST" && body?.method === "initialize") {
    const headers = { "Mcp-Session-Id": world.openSession() };
    return json(200, { id: body.id, result: legacyResult(world, body) }, headers);
  }
  const sessionId = headers["mcp-session-id"];
  if (sessionId === undefined) {
    return error(400, body?.id, -32000, "Bad Request: Mcp-Session-Id header is required");
  }
  if (!world.sessions.has(sessionId)) {
    const { status = 404, code = -32001 } = world.script.unknownSession ?? {};
    return error(status, body?.id, code, "Session not found");
  }
  if (method === "DELETE") {
    world.sessions.delete(sessionId);
    return { status: 200 };
  }
  if (method === "GET") return standingStream(world, response);
  if (body?.method === undefined || body.id === undefined) return { status: 202 };
  const result = legacyResult(world, body);
  return result === undefined
    ? error(200, body.id, -32601, "Method not found")
    : json(200, { id: body.id, result });
}

function legacyResult({ script }: World, body: NonNullable<Recorded["body"]>): Json | undefined {
  const { method = "", params } = body;
  const results: Record<string, Json> = {
    initialize: {
      protocolVersion: script.revision ?? params?.["protocolVersion"],
      capabilities: script.capabilities ?? CAPABILITIES,
      serverInfo: SERVER_INFO,
      instructions: "Do as the script says.",
    },
    ping: {},
    "logging/setLevel": {},
    "resources/subscribe": {},
    "resources/unsubscribe": {},
    "tools/list": { tools: script.tools ?? [] },
    "tools/call": { content: [{ type: "text", text: ranText(script, params) }] },
  };
  return results[method];
}

function ranText({ account }: Script, params: Json | undefined): string {
  const whose = account === undefined ? "" : ` as ${account}`;
  return `ran ${String(params?.["name"])}${whose}`;
}

/** Stays open; `World.send` writes to it. */
function standingStream(world: World, response: ServerResponse, first = ""): undefined {
  response.writeHead(200, EVENT_STREAM);
  response.flushHeaders();
  if (first !== "") response.write(first);
  world.addStream(response);
  return undefined;
}

function sse(
  world: World,
  path: string,
  record: Recorded,
  response: ServerResponse,
): Reaction | undefined {
  const { method, body } = record;
  if (path !== "message") {
    if (method !== "GET") return { status: 405, headers: { Allow: "GET" } };
    const { endpoint: own = `/u/${world.slug}` } = world.script;
    const endpoint = `${own}/message?sessionId=${world.openSession()}`;
    return standingStream(world, response, `event: endpoint\ndata: ${endpoint}\n\n`);
  }
  const sessionId = new URL(record.path, "http://upstream").searchParams.get("sessionId") ?? "";
  if (!world.sessions.has(sessionId)) return { status: 404, pieces: ["Session not found"] };
  if (body?.method !== undefined && body.id !== undefined) {
    const result = legacyResult(world, body);
    const reply = result === undefined ? { error: { code: -32601, message: "No" } } : { result };
    world.send(
      `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: body.id, ...reply })}\n\n`,
    );
  }
  return { status: 202, pieces: ["Accepted"] };
}

function modern(world: World, record: Recorded, response: ServerResponse): Reaction | undefined {
  const { method, body } = record;
  if (method !== "POST") return { status: 405, headers: { Allow: "POST" } };
  const { id, params } = body ?? {};
  const meta = params?.["_meta"] as Json | undefined;
  if (id === undefined) return { status: 202 };
  if (meta?.[VERSION_KEY] === undefined) {
    return error(400, id, -32022, "Unsupported protocol version", {
      supported: [MODERN],
      requested: params?.["protocolVersion"],
    });
  }
  const complete = { resultType: "complete" };
  const cacheable = { ...complete, ttlMs: 60_000, cacheScope: "public" };
  const result = (value: Json): Reaction => json(200, { id, result: value });
  switch (body?.method) {
    case "server/discover":
      return result({
        ...cacheable,
        supportedVersions: [MODERN],
        capabilities: world.script.capabilities ?? CAPABILITIES,
        _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
      });
    case "tools/list":
      return result({ ...cacheable, tools: world.script.tools ?? [] });
    case "tools/call": {
      const text = ranText(world.script, params);
      return result({ ...complete, content: [{ type: "text", text }] });
    }
    case "subscriptions/listen": {
      const acknowledged = {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: {
          notifications: params?.["notifications"],
          _meta: { "io.modelcontextprotocol/subscriptionId": id },
        },
      };
      return standingStream(world, response, `data: ${JSON.stringify(acknowledged)}\n\n`);
    }
    default:
      return error(404, id, -32601, "Method not found");
  }
}
