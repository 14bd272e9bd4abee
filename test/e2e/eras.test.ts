/** Where the eras meet: what is refused, in which words, and who finds the way by itself. */

import { describe, inject } from "vitest";

import type { Json, Kind } from "../support/clients-face.ts";
import { doorFor, test } from "../support/clients.ts";
import { outcomeOf, textOf } from "./outcome.ts";

const LEGACY_ONLY = ["everything", "everything-sse"] as const;
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function postModern(slug: string, method: string, params: Json): Promise<Response> {
  const name = params["name"] ?? params["uri"];
  return fetch(`${inject("gateway")}/mcp/${slug}`, {
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

describe.each(LEGACY_ONLY)("a modern request at the legacy upstream %s", (slug) => {
  test.for<[string, Json]>([
    ["server/discover", {}],
    ["tools/list", {}],
    ["tools/call", { name: "echo", arguments: { message: "hello" } }],
    ["resources/read", { uri: "demo://resource/dynamic/text/1" }],
  ])("is refused, naming the upstream and its era: %s", async ([method, params], { expect }) => {
    const response = await postModern(slug, method, params);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: "2.0",
      id: "q-1",
      error: {
        code: -32_022,
        message: `Upstream "${slug}" speaks only the legacy era (before 2026-07-28); connect with initialize`,
        data: {
          requested: "2026-07-28",
          supported: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
        },
      },
    });
  });

  test("held to its era, client 2 shows that refusal", async ({ expect, connect }) => {
    await expect(connect("v2-modern", doorFor("v2-modern", slug))).rejects.toThrow(
      `Upstream "${slug}" speaks only the legacy era`,
    );
  });

  test("left to find out, client 2 falls back and works", async ({ expect, connect }) => {
    const client = await connect("v2-auto", doorFor("v2-auto", slug));
    expect(client.server.revision).toBe("2025-11-25");
    expect(client.sessionId).toBeTypeOf("string");
    expect(textOf(await client.callTool("echo", { message: "hello" }))).toBe("Echo: hello");
    const asked = await client.callTool("trigger-sampling-request", { prompt: "hello" });
    expect(textOf(asked)).toContain("You said: Resource trigger-sampling-request context: hello");
  });
});

test.for(["fixture", "demo"])(
  "left to find out, client 2 is modern at %s",
  async (slug, { expect, connect }) => {
    const client = await connect("v2-auto", doorFor("v2-auto", slug));
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
])("%s at %s speaks %s", async ([kind, slug, revision], { expect, connect }) => {
  const client = await connect(kind, doorFor(kind, slug));
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
  { kind: "v1-http", slug: "fixture", tool: -32_602 },
  { kind: "v1-sse", slug: "fixture", tool: -32_602 },
  { kind: "v2-legacy", slug: "fixture", tool: -32_602 },
  { kind: "v2-modern", slug: "fixture", tool: -32_602 },
  { kind: "v2-legacy", slug: "demo", tool: -32_602 },
  { kind: "v2-modern", slug: "demo", tool: -32_602 },
];

describe.each(REFUSALS)("$kind at $slug asks for what is not there", ({ kind, slug, tool }) => {
  test("a tool", async ({ expect, connect }) => {
    const client = await connect(kind, doorFor(kind, slug));
    const outcome = await outcomeOf(client.callTool("no_such_tool"));
    expect(JSON.stringify(outcome)).toContain("no_such_tool");
    expect(outcome).toMatchObject(tool === "result" ? { isError: true } : { code: tool });
  });

  test("a resource", async ({ expect, connect }) => {
    const client = await connect(kind, doorFor(kind, slug));
    const uri = "nowhere://to-be-found";
    const outcome = await outcomeOf(client.request("resources/read", { uri }));
    // `-32002` in the older revisions' text; these servers say this in all of them.
    expect(outcome).toMatchObject({ code: -32_602 });
    expect(JSON.stringify(outcome)).toContain(uri);
  });

  test("a method", async ({ expect, connect }) => {
    const client = await connect(kind, doorFor(kind, slug));
    const outcome = await outcomeOf(client.request("edgeway/no-such-method"));
    if (kind !== "v2-modern") expect(outcome).toMatchObject({ code: -32_601 });
    // The modern era has a status for it, which SDK 2 passes on with the body as text.
    else
      expect(outcome).toMatchObject({
        data: { status: 404, text: expect.stringContaining("-32601") },
      });
  });
});
