/**
 * A client that does not read makes the upstream wait; nobody's memory takes the stream in its
 * place. 64 MB of progress events, in both eras.
 */

import { createServer, type Server as HttpServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, test, vi } from "vitest";

import { type Server, startGateway } from "../support/servers.ts";

const EVENTS = 2048;
const EVENT_BYTES = 80 * 1024;
const TOTAL_BYTES = EVENTS * EVENT_BYTES;
/** The kernel alone may buffer 36 MiB for each of the three connections on the way. */
const MAX_IN_TRANSIT_BYTES = TOTAL_BYTES * 0.75;

const upstream = { written: 0, isDone: false };

/** Answers in the caller's era, and streams only as fast as its socket is read. */
function answer(
  body: { id?: unknown; method: string; params?: { _meta?: { progressToken?: unknown } } },
  response: ServerResponse,
): void {
  const { id, method, params } = body;
  if (method === "tools/call") {
    void stream(id, params?._meta?.progressToken, response);
    return;
  }
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const serverInfo = { name: "firehose", version: "1" };
  const capabilities = { tools: {} };
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo },
    "server/discover": {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities,
      ttlMs: 0,
      cacheScope: "private",
    },
    "tools/list": { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" },
  };
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
}

async function stream(
  id: unknown,
  progressToken: unknown,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const send = async (message: object): Promise<void> => {
    const text = `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
    upstream.written += text.length;
    if (!response.write(text)) await new Promise((resolve) => response.once("drain", resolve));
  };
  const message = "x".repeat(EVENT_BYTES);
  for (let progress = 1; progress <= EVENTS; progress++) {
    const params = { progressToken, progress, message };
    await send({ method: "notifications/progress", params });
  }
  await send({ id, result: { resultType: "complete", content: [] } });
  response.end();
  upstream.isDone = true;
}

let firehose: HttpServer;
let gateway: Server;

beforeAll(async () => {
  firehose = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      if (request.method === "POST") answer(JSON.parse(text), response);
      else response.writeHead(405).end();
    });
  });
  await new Promise<void>((resolve) => firehose.listen(0, "127.0.0.1", resolve));
  const { port } = firehose.address() as AddressInfo;
  gateway = await startGateway({ servers: { firehose: { url: `http://localhost:${port}/mcp` } } });
});

afterAll(async () => {
  await gateway.stop();
  firehose.closeAllConnections();
  await new Promise((resolve) => firehose.close(resolve));
});

function post(body: object, headers: Record<string, string>): Promise<Response> {
  return fetch(`${gateway.url}/mcp`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
  });
}

async function openSession(): Promise<Record<string, string>> {
  const clientInfo = { name: "slow-reader", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const response = await post({ id: 1, method: "initialize", params }, {});
  await response.text();
  return { "Mcp-Session-Id": response.headers.get("mcp-session-id") ?? "" };
}

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const MODERN_HEADERS = {
  "MCP-Protocol-Version": "2026-07-28",
  "Mcp-Method": "tools/call",
  "Mcp-Name": "pour",
};

describe.each([
  { era: "legacy", meta: {}, headers: openSession },
  { era: "modern", meta: MODERN_META, headers: () => Promise.resolve(MODERN_HEADERS) },
])("a client that does not read, $era,", ({ meta, headers }) => {
  test("holds the upstream back, and gets every event once it reads", async ({ expect }) => {
    Object.assign(upstream, { written: 0, isDone: false });
    const params = { name: "pour", arguments: {}, _meta: { ...meta, progressToken: "slow" } };
    const response = await post({ id: 7, method: "tools/call", params }, await headers());
    expect(response.headers.get("content-type")).toBe("text/event-stream");

    // The upstream has come to a stop when two looks in a row find the same.
    let before = -1;
    await vi.waitFor(
      () => {
        const now = upstream.written;
        const isStill = now > 0 && now === before;
        before = now;
        expect(isStill).toBe(true);
      },
      { timeout: 40_000, interval: 500 },
    );
    expect(upstream.isDone).toBe(false);
    expect(upstream.written).toBeLessThan(MAX_IN_TRANSIT_BYTES);

    const text = await response.text();
    const seen = [...text.matchAll(/"progress":(\d+)/g)].map(([, progress]) => Number(progress));
    expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
    expect(text).toContain('"id":7');
  });
});
