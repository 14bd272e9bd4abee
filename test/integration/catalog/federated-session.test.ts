/** A legacy session where several servers meet: each request is for one of them, and for no other. */

import { beforeAll, describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { always, clientsOwn, MERGED, resourceful } from "../merged-session.ts";
import { evict, WAYS_TO_LOSE } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import { SseSession } from "../sse-client.ts";
import { jsonOf, methodOf, type Upstream } from "../upstream.ts";

const NOT_FOUND = { error: { code: -32002, message: "Resource not found" } };
const LOGLESS = { tools: {}, resources: {} };

let first: Upstream;
let second: Upstream;
let modern: Upstream;
let logless: Upstream;
let dead: Upstream;
/** It speaks 2026-07-28 alone, and does not say so when it is asked in another way. */
let shy: Upstream;

beforeAll(async () => {
  const tools = [{ name: "work", inputSchema: { type: "object" } }];
  const read = { contents: [{ uri: "hidden:/1", text: "second" }] };
  const taken = await takeSeveral([
    {
      script: resourceful("first", {
        reactions: { "resources/read": [{ ...jsonOf(NOT_FOUND), isLasting: true }] },
      }),
    },
    {
      script: resourceful("second", { reactions: { "resources/read": always(read) } }),
    },
    { script: { server: "modern", tools, capabilities: { tools: {} } } },
    { script: resourceful("logless", { capabilities: LOGLESS }) },
    { script: { server: "legacy", reactions: { initialize: [{ status: 503, isLasting: true }] } } },
    {
      script: {
        ...{ server: "modern", capabilities: { tools: {} } },
        reactions: { initialize: [{ status: 400, isLasting: true }] },
      },
    },
  ]);
  type Six = [Upstream, Upstream, Upstream, Upstream, Upstream, Upstream];
  [first, second, modern, logless, dead, shy] = taken as Six;
});

async function call(session: Session, upstream: Upstream): Promise<Message> {
  return responseIn(await session.callTool(`${upstream.slug}__work`));
}

function namesIn(result: Json | undefined): readonly unknown[] {
  const tools = (result?.["tools"] ?? []) as readonly Json[];
  return tools.map(({ name }) => name);
}

async function sentIn(upstream: Upstream): Promise<readonly string[]> {
  return (await clientsOwn(upstream)).map(methodOf);
}

describe("a session with several servers", () => {
  test("is introduced as one, with the capabilities of all", async ({ expect }) => {
    const { opening } = await Session.open(MERGED.mcp);
    expect(opening?.result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "edgeway" },
      capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    });
    const old = await Session.open(MERGED.mcp, { revision: "2024-11-05" });
    expect(old.opening?.result).not.toHaveProperty("capabilities.completions");
  });

  test("lists the tools of all, and opens no session for it", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const before = await Promise.all([first, second, logless].map(sentIn));
    const { result } = await responseIn(await session.request("tools/list"));
    const listed = [first, second, modern, logless];
    expect(namesIn(result)).toEqual(listed.map(({ slug }) => `${slug}__work`));
    for (const key of ["ttlMs", "cacheScope", "resultType"]) expect(result).not.toHaveProperty(key);
    expect(result?._meta?.["edgeway/servers"]).toMatchObject([{ server: dead.slug }]);
    expect(await Promise.all([first, second, logless].map(sentIn))).toEqual(before);
  });

  test("lists page by page, for its own client alone", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const refused = await responseIn(await session.request("tools/list", { cursor: "no" }));
    expect(refused.error?.code).toBe(-32602);
  });

  test("calls the server of the name and no other, in a session of its own", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp, { capabilities: { roots: {} } });
    const before = await sentIn(first);
    const { result } = await call(session, second);
    expect(result).toMatchObject({ content: [{ text: "ran work" }] });
    const [opening, initialized, called] = (await clientsOwn(second)).slice(-3);
    expect(opening?.body?.params).toMatchObject({ capabilities: { roots: {} } });
    expect([initialized, called].map((sent) => sent && methodOf(sent))).toEqual([
      "notifications/initialized",
      "tools/call",
    ]);
    expect(called?.body?.params?.["name"]).toBe("work");
    expect(await sentIn(first)).toEqual(before);
  });

  test("over HTTP+SSE is one as well", async ({ expect }) => {
    const session = await SseSession.open(MERGED.sse);
    const listed = await session.request("tools/list");
    expect(namesIn(listed.result)).toHaveLength(4);
    const { result } = await session.request("tools/call", { name: `${first.slug}__work` }, 2);
    expect(result).toMatchObject({ content: [{ text: "ran work" }] });
    await session.stream.cancel();
  });

  test("suffers a bad server in its own calls alone", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const failed = await call(session, dead);
    expect(failed.error?.data).toMatchObject({ upstream: dead.slug, reason: "unreachable" });
    expect(await call(session, first)).toHaveProperty("result");
  });

  test("calls servers of 2026-07-28 in their own words, in no session", async ({ expect }) => {
    const capabilities = { elicitation: {}, roots: { listChanged: true } };
    const session = await Session.open(MERGED.mcp, { capabilities });
    for (const upstream of [modern, shy]) {
      expect((await call(session, upstream)).result).toEqual({
        content: [{ type: "text", text: "ran work" }],
        _meta: { "edgeway/server": upstream.slug },
      });
      const [called, ...more] = await upstream.sent("tools/call");
      expect(more).toEqual([]);
      expect(called?.headers).not.toHaveProperty("mcp-session-id");
      expect(called?.headers).toMatchObject({
        ...{ "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "work" },
      });
      expect(called?.body?.params).toMatchObject({
        name: "work",
        _meta: { [CAPABILITIES_KEY]: { elicitation: { form: {} }, roots: {} } },
      });
    }
  });

  test("answers for a name that is nobody's", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const { error } = await responseIn(await session.callTool("nobody__work"));
    expect(error?.code).toBe(-32602);
    const unknown = await responseIn(await session.request("x/y"));
    expect(unknown.error?.code).toBe(-32601);
  });

  test("tells those in use that the roots have changed, and nobody else", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp, { capabilities: { roots: {} } });
    await call(session, second);
    const before = await sentIn(first);
    await session.notify("notifications/roots/list_changed");
    await evict(session);
    await session.notify("notifications/roots/list_changed");
    const own = (await sentIn(second)).slice(-2);
    expect(own).toEqual(Array(2).fill("notifications/roots/list_changed"));
    expect(await sentIn(first)).toEqual(before);
  });
});

describe("a resource that nobody lists", () => {
  test("is had from the first server that has it", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const { result } = await responseIn(
      await session.request("resources/read", { uri: "hidden:/1" }),
    );
    expect(result).toEqual({
      contents: [{ uri: "hidden:/1", text: "second" }],
      _meta: { "edgeway/server": second.slug },
    });
  });

  test("and is nowhere is not found", async ({ expect }) => {
    await second.script(
      resourceful("second", { reactions: { "resources/read": [jsonOf(NOT_FOUND)] } }),
    );
    const session = await Session.open(MERGED.mcp);
    const { error } = await responseIn(
      await session.request("resources/read", { uri: "hidden:/2" }),
    );
    expect(error).toEqual({
      code: -32002,
      message: "Resource not found",
      data: { uri: "hidden:/2" },
    });
  });
});

describe.for(WAYS_TO_LOSE)("the log level of a session whose object $name", ({ lose }) => {
  test("reaches the servers in use, and later ones when they are", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    await call(session, first);
    await call(session, logless);
    const level = await session.request("logging/setLevel", { level: "warning" }, 9);
    expect(await responseIn(level)).toEqual({ jsonrpc: "2.0", id: 9, result: {} });
    expect((await sentIn(first)).at(-1)).toBe("logging/setLevel");
    await lose(session);
    await call(session, second);
    const sent = (await clientsOwn(second)).slice(-4);
    expect(sent.map(methodOf)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
      "tools/call",
    ]);
    expect(sent[2]?.body?.params).toEqual({ level: "warning" });
    expect(await sentIn(logless)).not.toContain("logging/setLevel");
    // Also where the server forgets: then by its session with this client.
    await second.forget();
    await call(session, second);
    expect((await sentIn(second)).slice(-2)).toEqual(["logging/setLevel", "tools/call"]);
  });

  test("is not set at a server that logs nothing and was not called before", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    await responseIn(await session.request("logging/setLevel", { level: "alert" }));
    await lose(session);
    await call(session, logless);
    expect((await sentIn(logless)).slice(-3)).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
  });

  test("is judged here", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    await call(session, first);
    const before = await sentIn(first);
    for (const level of ["loud", 3, undefined]) {
      const { error } = await responseIn(await session.request("logging/setLevel", { level }));
      expect(error?.code).toBe(-32602);
    }
    expect(await sentIn(first)).toEqual(before);
  });
});
