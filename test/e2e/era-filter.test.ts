/** The era filter answers as real servers of one era do: it is put beside them. */

import { afterAll, beforeAll, describe } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { connectAt } from "../support/clients-at.ts";
import { type EraFilter, startEraFilter } from "../support/era-filter.ts";
import { INITIALIZE, openRawSession, postTo } from "../support/raw-session.ts";
import { LEGACY_REVISIONS, MODERN_REVISION } from "../support/revisions.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { startStreamingUpstream } from "../support/streaming-upstream.ts";
import { until } from "../support/until.ts";
import { textOf } from "./outcome.ts";

const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
} as const;
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN_REVISION,
  "io.modelcontextprotocol/clientCapabilities": {},
};

let legacyOnly: EraFilter;
let modernOnly: EraFilter;

beforeAll(async () => {
  legacyOnly = await startEraFilter(sharedServers().fixture, { era: "legacy" });
  modernOnly = await startEraFilter(sharedServers().fixture, { era: "modern" });
});
afterAll(() => Promise.all([legacyOnly.close(), modernOnly.close()]));

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
}

async function post(url: string, message: Json, headers: object = {}): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return read(await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body }));
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const body = text === "" ? undefined : (JSON.parse(text) as unknown);
  return { status: response.status, type: response.headers.get("content-type"), body };
}

async function postModern(url: string, method: string, params: Json = {}): Promise<Answer> {
  const name = params["name"];
  return post(
    url,
    { id: "q-1", method, params: { ...params, _meta: META } },
    {
      ...{ "MCP-Protocol-Version": MODERN_REVISION, "Mcp-Method": method },
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    },
  );
}

describe("a legacy-only server", () => {
  test.for<[string, Json]>([
    ["server/discover", {}],
    ["tools/list", {}],
    ["tools/call", { name: "echo", arguments: { message: "hello" } }],
    ["subscriptions/listen", { notifications: { toolsListChanged: true } }],
  ])(
    "refuses a modern request as server-everything does: %s",
    async ([method, params], { expect }) => {
      const answer = await postModern(legacyOnly.url, method, params);
      expect(answer).toEqual(await postModern(sharedServers().everything, method, params));
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: { code: -32_000 } });
    },
  );

  test("serves a session, with the requests and notifications of its server", async ({
    expect,
    connect,
  }) => {
    const client = await connect("v1-http", legacyOnly.url);
    expect(client.server.revision).toBe("2025-11-25");
    expect(textOf(await client.callTool("test_sampling", { prompt: "Hi" }))).toContain("Hi");
    await client.callTool("test_tool_with_progress", {}, { onprogress: () => undefined });
    expect(client.progress).toHaveLength(3);
  });

  test("ends its streams when it goes down", async ({ expect, onTestFinished }) => {
    const upstream = await startStreamingUpstream();
    const filter = await startEraFilter(upstream.url, { era: "legacy" });
    onTestFinished(async () => {
      await filter.close();
      await upstream.close();
    });
    const session = await openRawSession(filter.url);
    const script = { call: "cut short", events: 2, stopAfter: 1, intervalMs: 0, bytes: 10 };
    const response = await postTo(session, {
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "stream", arguments: script },
    });
    await until(() => upstream.call(script.call).stoppedAfter === 1, "it has begun to answer");
    upstream.forgetSessions();
    await expect(response.text()).rejects.toThrow("terminated");
  });

  test("is recognised as legacy by a client of both eras", async ({ expect, connect }) => {
    const client = await connect("v2-auto", legacyOnly.url);
    expect(client.server.revision).toBe("2025-11-25");
  });
});

describe("a modern-only server", () => {
  test.for(LEGACY_REVISIONS)(
    "answers initialize of %s with the versions that it supports",
    async (requested, { expect }) => {
      const params = { ...INITIALIZE.params, protocolVersion: requested };
      expect(await post(modernOnly.url, { ...INITIALIZE, params })).toEqual({
        status: 400,
        type: "application/json",
        body: {
          jsonrpc: "2.0",
          id: INITIALIZE.id,
          error: {
            code: -32_022,
            message: `Unsupported protocol version: ${requested}`,
            data: { supported: [MODERN_REVISION], requested },
          },
        },
      });
    },
  );

  test("has no session to open a stream for, or to delete", async ({ expect }) => {
    for (const method of ["GET", "DELETE"]) {
      const headers = { Accept: "text/event-stream", "Mcp-Session-Id": "some" };
      const response = await fetch(modernOnly.url, { method, headers });
      expect(response.headers.get("allow")).toBe("POST");
      expect(await read(response)).toMatchObject({ status: 405 });
    }
  });

  test("serves modern clients, which detect its era by themselves", async ({ expect, connect }) => {
    const client = await connect("v2-auto", modernOnly.url);
    expect(client.server.revision).toBe(MODERN_REVISION);
    expect(textOf(await client.callTool("test_sampling", { prompt: "Hi" }))).toContain("Hi");
  });

  test("loses its connection when its client disconnects", async ({ expect, connect }) => {
    const client = await connect("v2-modern", modernOnly.url);
    const direct = await connect("v2-modern", sharedServers().fixture);
    const count = async (): Promise<number> =>
      Number(textOf(await direct.callTool("test_cancelled_count")));
    const before = await count();
    const controller = new AbortController();
    const { signal } = controller;
    const name = crypto.randomUUID();
    const call = client.callTool("test_wait", { ms: 30_000, name }, { signal }).catch(() => "gone");
    await direct.callTool("test_wait_begun", { name });
    controller.abort();
    expect(await call).toBe("gone");
    await expect.poll(count, { timeout: 30_000 }).toBe(before + 1);
  });
});

describe.each(LEGACY_REVISIONS)("a server of %s and nothing newer", (newest) => {
  test("negotiates its own revision with newer clients, and theirs with older ones", async ({
    expect,
    connect,
  }) => {
    const server = await startEraFilter(sharedServers().fixture, { era: "legacy", newest });
    try {
      for (const revision of LEGACY_REVISIONS.filter((asked) => asked !== "2024-11-05")) {
        const client = await connectAt(connect, revision, () => server.url);
        expect(client.server.revision).toBe(revision < newest ? revision : newest);
      }
    } finally {
      await server.close();
    }
  });

  test("rejects a newer version in the header, if it reads the header", async ({ expect }) => {
    const server = await startEraFilter(sharedServers().fixture, { era: "legacy", newest });
    try {
      const newer = { "MCP-Protocol-Version": newest < "2025-11-25" ? "2025-11-25" : "2026-01-01" };
      const initialize = {
        ...INITIALIZE,
        params: { ...INITIALIZE.params, protocolVersion: newest },
      };
      const answer = await fetch(server.url, {
        method: "POST",
        headers: { ...HEADERS, ...newer },
        body: JSON.stringify(initialize),
      });
      await answer.body?.cancel();
      expect(answer.status).toBe(newest < "2025-06-18" ? 200 : 400);
    } finally {
      await server.close();
    }
  });
});
