/** Which era and transport an upstream speaks is found out, and every client is served in its own. */

import { describe, test } from "vitest";

import type { Reaction, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import {
  CAPABILITIES_KEY,
  initializeMessage,
  LATEST_LEGACY,
  MODERN,
  modern,
  modernCall,
  post,
  Session,
  VERSION_KEY,
} from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { jsonOf, RESULT, sessionOf, Upstream } from "../upstream.ts";

const TOOL = { name: "work", inputSchema: { type: "object" } };
const MODERN_ONLY: Script = { server: "modern", tools: [TOOL] };
const ABLE = { elicitation: { form: {} }, roots: { listChanged: true }, experimental: { x: {} } };
/** In the words of the other era. */
const ABLE_THERE = { elicitation: { form: {} }, roots: {} };

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

  test.for(REFUSALS)("that $name has a session all the same", async ({ reaction }, { expect }) => {
    const upstream = await Upstream.take({
      ...MODERN_ONLY,
      ...(reaction === undefined
        ? {}
        : { reactions: { initialize: [{ ...reaction, isLasting: true }] } }),
    });
    const session = await Session.open(upstream.mcp, {
      revision: "2025-06-18",
      capabilities: ABLE,
    });
    expect(session.opening).toEqual({
      ...{ jsonrpc: "2.0", id: 0 },
      result: {
        protocolVersion: "2025-06-18",
        serverInfo: { name: "scripted", version: "1.2.3" },
        capabilities: {
          ...{ tools: { listChanged: true }, prompts: { listChanged: true }, logging: {} },
          resources: { subscribe: true, listChanged: true },
        },
      },
    });
    const listed = await responseIn(await session.request("tools/list", {}, "l"));
    expect(listed).toEqual({ jsonrpc: "2.0", id: "l", result: { tools: [TOOL] } });
    for (let n = 0; n < 2; n++) {
      const called = await responseIn(await session.callTool("work", {}, n));
      expect(called.result).toEqual({ content: [{ type: "text", text: "ran work" }] });
    }
    const calls = await upstream.sent("tools/call");
    expect(calls).toHaveLength(2);
    for (const { headers, body } of calls) {
      expect(headers).not.toHaveProperty("mcp-session-id");
      expect(headers).toMatchObject({
        ...{ "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "work" },
      });
      expect(body?.params).toMatchObject({
        ...{ name: "work", arguments: {} },
        // What this client can be asked, in the words of the server's era.
        _meta: { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: ABLE_THERE },
      });
    }
    // To introduce it, in the session, and where its tools are read.
    expect(await upstream.sent("initialize")).toHaveLength(3);
  });

  test("that is configured so is not probed", async ({ expect }) => {
    const upstream = await Upstream.take({ ...MODERN_ONLY, server: "dual" }, "modern");
    const session = await Session.inUse(upstream.mcp);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(await upstream.sent("initialize")).toEqual([]);
    expect((await upstream.sent("tools/call"))[0]?.headers).not.toHaveProperty("mcp-session-id");
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

  test.for(ANSWERS)("that $name is served all the same", async ({ reaction }, { expect }) => {
    const upstream = await Upstream.take({
      ...{ server: "legacy", tools: [TOOL] },
      ...(reaction === undefined
        ? {}
        : { reactions: { "server/discover": [{ ...reaction, isLasting: true }] } }),
    });
    for (const id of ["mine", "again"]) {
      const response = await modernCall(upstream, { id, capabilities: ABLE });
      expect(response.status).toBe(200);
      const content = [{ type: "text", text: "ran work" }];
      expect(await responseIn(response)).toMatchObject({
        id,
        result: { resultType: "complete", content },
      });
    }
    // A call is never the probe: an old server might run it.
    const calls = await upstream.sent("tools/call");
    expect(calls.map(({ status }) => status)).toEqual([200, 200]);
    // In one session of the older era, as a client that can be asked for the same.
    const [first, second] = calls.map(sessionOf);
    expect(first).toBeDefined();
    expect(second).toBe(first);
    const opening = (await upstream.log()).find(({ opened }) => opened === first);
    expect(opening?.body?.params).toMatchObject({
      ...{ protocolVersion: LATEST_LEGACY, capabilities: ABLE_THERE },
    });
    expect(calls[0]?.body?.params).toEqual({ name: "work", arguments: {} });
  });

  test("that is configured so is not probed", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "dual" }, "legacy");
    expect(await responseIn(await modernCall(upstream))).toHaveProperty("result");
    const versions = (await upstream.log()).map(({ headers }) => headers["mcp-protocol-version"]);
    expect(versions).not.toContain(MODERN);
  });

  test("is distinguished from an unreachable one", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { initialize: [{ status: 503, isLasting: true }] },
    });
    const { error } = await responseIn(await modernCall(upstream));
    expect(error).toMatchObject({
      code: -32603,
      data: { upstream: upstream.slug, reason: "unreachable", status: 503 },
    });
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

  test("with -32020 is repeated once", async ({ expect }) => {
    const mismatch = jsonOf({ error: { code: -32020, message: "?" } }, 400);
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "server/discover": [mismatch] },
    });
    expect(await responseIn(await modern(upstream, "tools/list"))).toHaveProperty("result");
    expect(await upstream.sent("server/discover")).toHaveLength(2);
  });

  test("with unknown revisions gets an error that lists them, and no fallback", async ({
    expect,
  }) => {
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

test("an upstream of both eras is called in the client's era", async ({ expect }) => {
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

/** Of the calls that it was sent, those that were not refused. */
async function runsOf(upstream: Upstream): Promise<readonly Recorded[]> {
  return (await upstream.sent("tools/call")).filter(({ status }) => status === 200);
}

describe("a change of an upstream's era is detected by the next call, which runs once,", () => {
  const LEGACY_ONLY: Script = { server: "legacy", tools: [TOOL] };

  test("of a modern client", async ({ expect }) => {
    const upstream = await Upstream.take(MODERN_ONLY);
    for (const [n, script] of [MODERN_ONLY, LEGACY_ONLY, MODERN_ONLY, LEGACY_ONLY].entries()) {
      await upstream.script(script);
      const { result } = await responseIn(await modernCall(upstream));
      expect(result?.["content"]).toEqual([{ type: "text", text: "ran work" }]);
      expect(await runsOf(upstream)).toHaveLength(n + 1);
    }
  });

  test("of a legacy client", async ({ expect }) => {
    const upstream = await Upstream.take(LEGACY_ONLY);
    const session = await Session.open(upstream.mcp);
    for (const [n, script] of [LEGACY_ONLY, MODERN_ONLY, LEGACY_ONLY, MODERN_ONLY].entries()) {
      await upstream.script(script);
      const { result } = await responseIn(await session.callTool());
      expect(result).toEqual({ content: [{ type: "text", text: "ran work" }] });
      expect(await runsOf(upstream)).toHaveLength(n + 1);
    }
  });
});
