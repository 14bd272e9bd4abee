/** Where the eras meet: everybody is served in its own, and what is refused is in the words of that. */

import { describe, expect } from "vitest";

import type { Json, Kind } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";

const LEGACY_ONLY = ["everything", "everything-sse"] as const;
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const ECHO = { name: "echo" };

async function postModern(slug: string, method: string, params: Json): Promise<Response> {
  const name = params["name"] ?? params["uri"];
  return fetch(`${sharedServers().gateway}/mcp/${slug}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "q-1",
      method,
      params: { ...params, _meta: MODERN_META },
    }),
  });
}

/** The last message of an answer, whichever form it has. */
async function responseOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.headers.get("content-type") !== "text/event-stream") return JSON.parse(text);
  const data = [...text.matchAll(/^data: (.+)$/gm)].at(-1)?.[1];
  return JSON.parse(data ?? "null");
}

const TTL = { ttlMs: 0, cacheScope: "private" };

describe.each(LEGACY_ONLY)("a modern request at the legacy upstream %s", (slug) => {
  test.for<[string, Json, Json]>([
    [
      "server/discover",
      {},
      {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
      },
    ],
    ["tools/list", {}, { tools: expect.arrayContaining([expect.objectContaining(ECHO)]), ...TTL }],
    [
      "tools/call",
      { name: "echo", arguments: { message: "hello" } },
      { content: [{ type: "text", text: "Echo: hello" }] },
    ],
    [
      "resources/read",
      { uri: "demo://resource/dynamic/text/1" },
      { contents: [{ uri: "demo://resource/dynamic/text/1", mimeType: "text/plain" }], ...TTL },
    ],
  ])("is answered in its own era: %s", async ([method, params, result], { expect }) => {
    const response = await postModern(slug, method, params);
    expect(response.status).toBe(200);
    expect(await responseOf(response)).toMatchObject({
      ...{ jsonrpc: "2.0", id: "q-1" },
      result: { resultType: "complete", ...result },
    });
  });

  test.for(["v2-modern", "v2-auto"] as const)(
    "serves %s completely, requests of the server included",
    async (kind, { expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, slug));
      expect(client.server.revision).toBe("2026-07-28");
      expect(client.sessionId).toBeUndefined();
      expect(textOf(await client.callTool("echo", { message: "hello" }))).toBe("Echo: hello");
      const asked = await client.callTool("trigger-sampling-request", { prompt: "hello" });
      expect(textOf(asked)).toContain("You said: Resource trigger-sampling-request context: hello");
      // This server asks for roots too, some time after the session was opened.
      expect(client.asked.map(({ method }) => method)).toContain("sampling/createMessage");
      expect(client.errors).toEqual([]);
    },
  );
});

test.for(["fixture", "demo", "everything", "everything-sse"])(
  "client 2 with automatic negotiation is modern at %s",
  async (slug, { expect, connect }) => {
    const client = await connect("v2-auto", endpointFor("v2-auto", slug));
    expect(client.server.revision).toBe("2026-07-28");
    expect(client.sessionId).toBeUndefined();
  },
);

test.for<[Kind, string, string]>([
  ["v1-http", "fixture", "2025-11-25"],
  ["v1-sse", "fixture", "2025-11-25"],
  ["v2-legacy", "fixture", "2025-11-25"],
  ["v2-modern", "fixture", "2026-07-28"],
  ["v1-http", "demo", "2025-11-25"],
  ["v2-modern", "demo", "2026-07-28"],
  ["v1-http", "everything", "2025-11-25"],
  ["v2-modern", "everything", "2026-07-28"],
  ["v1-sse", "everything-sse", "2025-11-25"],
  ["v2-modern", "everything-sse", "2026-07-28"],
])("%s at %s speaks %s", async ([kind, slug, revision], { expect, connect }) => {
  const client = await connect(kind, endpointFor(kind, slug));
  expect(client.server.revision).toBe(revision);
  expect(await client.listTools()).not.toEqual([]);
});

/** An unknown tool is a refusal for some servers, and for others a result that says so. */
const REFUSALS: readonly {
  readonly kind: Kind;
  readonly slug: string;
  readonly tool: number | "result";
}[] = [
  { kind: "v1-http", slug: "everything", tool: "result" },
  { kind: "v1-sse", slug: "everything", tool: "result" },
  { kind: "v1-http", slug: "everything-sse", tool: "result" },
  { kind: "v2-modern", slug: "everything", tool: "result" },
  { kind: "v2-modern", slug: "everything-sse", tool: "result" },
  { kind: "v1-http", slug: "fixture", tool: -32_602 },
  { kind: "v1-sse", slug: "fixture", tool: -32_602 },
  { kind: "v2-legacy", slug: "fixture", tool: -32_602 },
  { kind: "v2-modern", slug: "fixture", tool: -32_602 },
  { kind: "v2-legacy", slug: "demo", tool: -32_602 },
  { kind: "v2-modern", slug: "demo", tool: -32_602 },
];

describe.each(REFUSALS)(
  "a request of $kind at $slug for something unknown",
  ({ kind, slug, tool }) => {
    test("fails for a tool", async ({ expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, slug));
      const outcome = await outcomeOf(client.callTool("no_such_tool"));
      expect(JSON.stringify(outcome)).toContain("no_such_tool");
      expect(outcome).toMatchObject(tool === "result" ? { isError: true } : { code: tool });
    });

    test("fails for a resource", async ({ expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, slug));
      const uri = "nowhere://to-be-found";
      const outcome = await outcomeOf(client.request("resources/read", { uri }));
      // `-32002` in the older revisions' text; these servers say this in all of them.
      expect(outcome).toMatchObject({ code: -32_602 });
      expect(JSON.stringify(outcome)).toContain(uri);
    });

    test("fails for a method", async ({ expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, slug));
      const outcome = await outcomeOf(client.request("edgeway/no-such-method"));
      if (kind !== "v2-modern") expect(outcome).toMatchObject({ code: -32_601 });
      // The modern era has a status for it, which SDK 2 passes on with the body as text.
      else
        expect(outcome).toMatchObject({
          data: { status: 404, text: expect.stringContaining("-32601") },
        });
    });
  },
);
