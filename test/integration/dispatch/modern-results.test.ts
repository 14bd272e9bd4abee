/** 2026-07-28: results and errors on their way down, completed and otherwise untouched. */

import { beforeAll, describe, test } from "vitest";

import { MODERN, modern, modernCall } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { jsonOf, Upstream } from "../upstream.ts";

// A stream, which a busy machine would open for a slow answer, has no status of an error.
beforeAll(() => setLimits({ streamAfterSeconds: 60 }));

test("server/discover returns the gateway's revisions and the upstream's capabilities", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "modern",
    capabilities: {
      tools: {},
      tasks: { list: {} },
      extensions: { "com.example/x": {}, "io.modelcontextprotocol/ui": { a: 1 } },
    },
  });
  const { result } = await responseIn(await modern(upstream, "server/discover"));
  expect(result).toMatchObject({
    resultType: "complete",
    supportedVersions: [MODERN],
    capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/ui": { a: 1 } } },
    ttlMs: 60_000,
    cacheScope: "public",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted" } },
  });
  expect(result?.["capabilities"]).not.toHaveProperty("tasks");
  expect(JSON.stringify(result)).not.toContain("com.example");
});

describe("results are completed", () => {
  const CACHEABLE = [
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "resources/read",
  ];
  test.for([
    ...CACHEABLE.map((method) => ({ method, isCacheable: true })),
    ...["tools/call", "prompts/get", "completion/complete"].map((method) => ({
      method,
      isCacheable: false,
    })),
  ])("of $method", async ({ method, isCacheable }, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { [method]: [{ ...jsonOf({ result: { kept: true } }), isLasting: true }] },
    });
    const params =
      method === "resources/read" ? { uri: "file:///a" } : { name: "x", arguments: {} };
    const { result } = await responseIn(await modern(upstream, method, params));
    expect(result).toEqual({
      kept: true,
      resultType: "complete",
      ...(isCacheable ? { ttlMs: 0, cacheScope: "private" } : {}),
    });
  });

  test("except one of an unknown type, which becomes an error that names the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [jsonOf({ result: { resultType: "weird" } })] },
    });
    const { error } = await responseIn(await modernCall(upstream));
    expect(error).toMatchObject({
      code: -32603,
      data: { upstream: upstream.slug, reason: "malformed" },
    });
  });
});

describe("errors of the upstream keep code and data, and get their status:", () => {
  test.for([
    { code: -32602, given: 200, status: 200 },
    { code: -32603, given: 200, status: 200 },
    { code: -32601, given: 404, status: 404 },
    { code: -32021, given: 400, status: 400 },
    { code: -1, given: 200, status: 200 },
  ])("$code", async ({ code, given, status }, { expect }) => {
    const error = { code, message: "No.", data: { requiredCapabilities: { sampling: {} } } };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [jsonOf({ error }, given)] },
    });
    const response = await modernCall(upstream, { id: "e" });
    expect(response.status).toBe(status);
    expect(await responseIn(response)).toEqual({ jsonrpc: "2.0", id: "e", error });
  });
});
