/** Which era and transport an upstream speaks is found out; what cannot be served is said exactly. */

import { describe, test } from "vitest";

import type { Reaction } from "../support/scripted-upstream-script.ts";
import { initializeMessage, MODERN, modern, modernCall, post, Session } from "./client.ts";
import { responseIn } from "./event-reader.ts";
import { jsonOf, RESULT, Upstream } from "./upstream.ts";

const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

describe("a legacy client of an upstream that speaks the modern era only", () => {
  const REFUSALS: readonly { name: string; reaction?: Reaction }[] = [
    { name: "names its revisions" },
    {
      name: "misses the envelope",
      reaction: jsonOf({ error: { code: -32602, message: "Bad envelope" } }, 400),
    },
    {
      name: "knows no initialize",
      reaction: jsonOf({ error: { code: -32601, message: "Method not found" } }, 404),
    },
    {
      name: "misses a header",
      reaction: jsonOf({ error: { code: -32020, message: "Mcp-Method is missing" } }, 400),
    },
    { name: "says nothing that is MCP", reaction: { status: 400, pieces: ["Bad Request"] } },
  ];

  test.for(REFUSALS)(
    "that $name is told which upstream and which era",
    async ({ reaction }, { expect }) => {
      const upstream = await Upstream.take({
        server: "modern",
        ...(reaction === undefined
          ? {}
          : { reactions: { initialize: [{ ...reaction, isLasting: true }] } }),
      });
      for (let n = 0; n < 2; n++) {
        const response = await post(upstream.mcp, initializeMessage("2025-06-18", {}, "init"));
        expect(response.headers.has("mcp-session-id")).toBe(false);
        const { id, error } = await responseIn(response);
        expect(id).toBe("init");
        expect(error?.code).toBe(-32602);
        expect(error?.message).toContain(`"${upstream.slug}"`);
        expect(error?.message).toContain("modern era");
        expect(error?.data).toEqual({ supported: [MODERN], requested: "2025-06-18" });
      }
    },
  );

  test("that is configured so is not asked", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "dual" }, "modern");
    const { error } = await responseIn(await post(upstream.mcp, initializeMessage()));
    expect(error?.message).toContain("modern era");
    expect(await upstream.log()).toHaveLength(0);
  });
});

describe("a modern client of an upstream that speaks the legacy era only", () => {
  const ANSWERS: readonly { name: string; reaction?: Reaction }[] = [
    { name: "wants a session" },
    {
      name: "knows no server/discover",
      reaction: jsonOf({ error: { code: -32601, message: "Method not found" } }),
    },
    {
      name: "answers 404 in HTML",
      reaction: { status: 404, headers: { "Content-Type": "text/html" }, pieces: ["<h1>"] },
    },
    { name: "answers 405", reaction: { status: 405 } },
    { name: "answers with any result", reaction: jsonOf({ result: RESULT }) },
    {
      name: "lists legacy revisions",
      reaction: jsonOf(
        { error: { code: -32022, message: "No", data: { supported: ["2025-11-25"] } } },
        400,
      ),
    },
  ];

  test.for(ANSWERS)(
    "that $name is told which upstream and which era",
    async ({ reaction }, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        ...(reaction === undefined
          ? {}
          : { reactions: { "server/discover": [{ ...reaction, isLasting: true }] } }),
      });
      const response = await modernCall(upstream, { id: "mine" });
      expect(response.status).toBe(400);
      const { id, error } = await responseIn(response);
      expect(id).toBe("mine");
      expect(error?.code).toBe(-32022);
      expect(error?.message).toContain(`"${upstream.slug}"`);
      expect(error?.message).toContain("legacy era");
      expect(error?.data).toEqual({ supported: LEGACY_REVISIONS, requested: MODERN });
      // A call is never the probe: an old server might run it.
      expect(await upstream.sent("tools/call")).toHaveLength(0);
    },
  );

  test("that is configured so is not asked", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "dual" }, "legacy");
    expect((await responseIn(await modernCall(upstream))).error?.code).toBe(-32022);
    expect(await upstream.log()).toHaveLength(0);
  });
});

describe("a probe that proves nothing", () => {
  test.for([
    { status: 401, reason: "unauthorized" },
    { status: 403, reason: "unauthorized" },
    { status: 408, reason: "unreachable" },
    { status: 429, reason: "overloaded" },
    { status: 500, reason: "unreachable" },
    { status: 503, reason: "unreachable" },
  ])("with $status is reported, and made again", async ({ status, reason }, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "server/discover": [{ status }] },
    });
    const { error } = await responseIn(await modernCall(upstream));
    expect(error?.data).toEqual({ upstream: upstream.slug, reason, status });
    expect(await responseIn(await modernCall(upstream))).toHaveProperty("result");
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test.for([401, 403, 429, 500])(
    "initialize with %s does not lead to another transport or era",
    async (status, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        reactions: { initialize: [{ status }] },
      });
      await responseIn(await post(upstream.mcp, initializeMessage()));
      expect((await upstream.log()).map(({ method, body }) => body?.method ?? method)).toEqual([
        "initialize",
      ]);
    },
  );

  test("-32020 on the probe is asked about once more", async ({ expect }) => {
    const mismatch = jsonOf({ error: { code: -32020, message: "?" } }, 400);
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "server/discover": [mismatch] },
    });
    expect(await responseIn(await modern(upstream, "tools/list"))).toHaveProperty("result");
    expect(await upstream.sent("server/discover")).toHaveLength(2);
  });

  test("revisions that nobody knows yet are said, without falling back", async ({ expect }) => {
    const data = { supported: ["2031-01-01"], requested: MODERN };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: {
        "server/discover": [
          { ...jsonOf({ error: { code: -32022, message: "No", data } }, 400), isLasting: true },
        ],
      },
    });
    const { error } = await responseIn(await modernCall(upstream));
    expect(error).toMatchObject({ code: -32603, data: { upstream: upstream.slug } });
    expect(error?.message).toContain(`"${upstream.slug}"`);
    expect(await upstream.sent("tools/call")).toHaveLength(0);
  });
});

test("an upstream of both eras is spoken to in the client's", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "dual" });
  const session = await Session.open(upstream.mcp);
  expect(await responseIn(await session.callTool())).toHaveProperty("result");
  expect(await responseIn(await modernCall(upstream))).toHaveProperty("result");
  const [legacy, relayed] = await upstream.sent("tools/call");
  expect(legacy?.headers).toHaveProperty("mcp-session-id");
  expect(relayed?.headers).toMatchObject({ "mcp-protocol-version": MODERN });
  // Once to find out, and once for its catalog.
  expect(await upstream.sent("server/discover")).toHaveLength(2);
});

test("an upstream that changes its era is found out by the next call", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "modern" });
  expect(await responseIn(await modern(upstream, "tools/list"))).toHaveProperty("result");
  await upstream.script({ server: "legacy" });
  const response = await modern(upstream, "tools/list");
  expect((await responseIn(response)).error?.code).toBe(-32022);
  expect(await upstream.sent("server/discover")).toHaveLength(2);
});
