/** 2026-07-28 where several servers meet: whose a request is, and what its server is sent. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { MODERN, modern } from "../client.ts";
import { messagesOf, responseIn } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import {
  event,
  jsonOf,
  MODERN_ANSWER,
  progress,
  sessionOf,
  streamOf,
  type Upstream,
} from "../upstream.ts";

const MCP = { mcp: "/mcp" };

const always = (message: Json, status = 200): readonly Reaction[] => [
  { ...jsonOf(message, status), isLasting: true },
];

const TOOLS_ALONE = { capabilities: { tools: { listChanged: true } } };

/** A server with one of each. */
function script(name: string): Script {
  return {
    server: "modern",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    reactions: {
      "resources/list": always({ result: { resources: [{ uri: `file:///${name}`, name }] } }),
      "resources/templates/list": always({ result: { resourceTemplates: [] } }),
      "resources/read": always({ result: { contents: [{ uri: `file:///${name}`, text: name }] } }),
      "prompts/list": always({ result: { prompts: [{ name: "greet" }] } }),
      "prompts/get": always({ result: { messages: [], description: name } }),
    },
  };
}

let first: Upstream;
let second: Upstream;
let old: Upstream;
let guarded: Upstream;

const tool = (name: string): Json => ({ name, inputSchema: { type: "object" } });

beforeAll(async () => {
  const tools = [tool("work"), tool("secret")];
  const taken = await takeSeveral([
    { script: script("first") },
    { script: script("second") },
    { script: { server: "legacy", tools: [tool("work"), tool("kept")], ...TOOLS_ALONE } },
    { script: { server: "modern", tools, ...TOOLS_ALONE }, entry: { tools: { deny: ["secret"] } } },
  ]);
  [first, second, old, guarded] = taken as [Upstream, Upstream, Upstream, Upstream];
});

const toolOf = ({ slug }: Upstream, name = "work"): string => `${slug}__${name}`;

function call(upstream: Upstream, name?: string, params: Json = {}): Promise<Response> {
  return modern(MCP, "tools/call", { name: toolOf(upstream, name), arguments: {}, ...params });
}

/** How many of them each server was sent. */
async function counts(method: string): Promise<readonly number[]> {
  const sent = [first.sent(method), second.sent(method), old.sent(method)];
  return (await Promise.all(sent)).map(({ length }) => length);
}

describe("a request goes to its server, in that server's words:", () => {
  test.for([
    { name: "work", isListed: true },
    { name: "hidden", isListed: false },
  ])("tools/call of $name", async ({ name }, { expect }) => {
    const before = await counts("tools/call");
    const { result } = await responseIn(await call(second, name));
    expect(result?.["content"]).toEqual([{ type: "text", text: `ran ${name}` }]);
    expect(await counts("tools/call")).toEqual(before.map((n, at) => (at === 1 ? n + 1 : n)));
    const record = (await second.sent("tools/call")).at(-1);
    expect(record?.headers["mcp-name"]).toBe(name);
    expect(record?.body?.params).toMatchObject({ name, arguments: {} });
  });

  test("prompts/get", async ({ expect }) => {
    const params = { name: toolOf(second, "greet") };
    const { result } = await responseIn(await modern(MCP, "prompts/get", params));
    expect(result?.["description"]).toBe("second");
    const [record] = await second.sent("prompts/get");
    expect([record?.headers["mcp-name"], record?.body?.params?.["name"]]).toEqual([
      "greet",
      "greet",
    ]);
  });

  test("resources/read, by the URI that it lists", async ({ expect }) => {
    const before = await counts("resources/read");
    const uri = "file:///second";
    const { result } = await responseIn(await modern(MCP, "resources/read", { uri }));
    expect(result).toMatchObject({ contents: [{ uri, text: "second" }], cacheScope: "private" });
    expect(await counts("resources/read")).toEqual(before.map((n, at) => (at === 1 ? n + 1 : n)));
    expect((await second.sent("resources/read")).at(-1)?.headers["mcp-name"]).toBe(uri);
  });

  test("with what comes before its result", async ({ expect }) => {
    await second.script({
      ...script("second"),
      reactions: {
        ...script("second").reactions,
        "tools/call": [streamOf(event(progress(1)), event(MODERN_ANSWER))],
      },
    });
    const _meta = { progressToken: "mine" };
    const params = { name: toolOf(second), arguments: {} };
    const messages = await messagesOf(
      await modern(MCP, "tools/call", params, { id: "x", meta: _meta }),
    );
    expect(messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "mine", progress: 1 } },
      { id: "x", result: { resultType: "complete" } },
    ]);
  });
});

describe("a request of nobody's is", () => {
  test.for(["work", "nobody__work", "__work"])(
    "a tool that is called %j: refused, and no server hears of it",
    async (name, { expect }) => {
      const before = await counts("tools/call");
      const response = await modern(MCP, "tools/call", { name, arguments: {} }, { id: 3 });
      expect(response.status).toBe(200);
      expect(await responseIn(response)).toMatchObject({ id: 3, error: { code: -32602 } });
      expect(await counts("tools/call")).toEqual(before);
    },
  );
});

test("a server of the other era is called in a session of its own, in its own words", async ({
  expect,
}) => {
  const capabilities = { elicitation: { form: {}, url: {} }, roots: {} };
  const params = { name: toolOf(old), arguments: { n: 1 } };
  for (const id of ["a", "b"]) {
    const response = await modern(MCP, "tools/call", params, { id, capabilities });
    expect(response.status).toBe(200);
    expect(await responseIn(response)).toMatchObject({
      id,
      result: { resultType: "complete", content: [{ type: "text", text: "ran work" }] },
    });
  }
  const calls = await old.sent("tools/call");
  expect(calls).toHaveLength(2);
  for (const { body } of calls) {
    expect(body?.params).toEqual({ name: "work", arguments: { n: 1 } });
  }
  const [session, again] = calls.map(sessionOf);
  expect(session).toBeDefined();
  expect(again).toBe(session);
  const opening = (await old.log()).find(({ opened }) => opened === session);
  expect(opening?.body?.params).toMatchObject({ protocolVersion: "2025-11-25", capabilities });
});

test("server/discover introduces all of them as one", async ({ expect }) => {
  const { result } = await responseIn(await modern(MCP, "server/discover"));
  expect(result).toMatchObject({
    resultType: "complete",
    supportedVersions: [MODERN],
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    cacheScope: "private",
  });
  expect(result?._meta?.["io.modelcontextprotocol/serverInfo"]).toMatchObject({
    name: expect.any(String) as string,
    version: expect.any(String) as string,
  });
  const { ttlMs } = result ?? {};
  expect([Number.isInteger(ttlMs), Number(ttlMs) >= 0, Number(ttlMs) <= 3_600_000]).toEqual([
    true,
    true,
    true,
  ]);
});

test("tools/list has the tools of all servers, whatever their era", async ({ expect }) => {
  const { result } = await responseIn(await modern(MCP, "tools/list"));
  const names = [toolOf(first), toolOf(second), toolOf(old), toolOf(old, "kept"), toolOf(guarded)];
  expect(result).not.toHaveProperty("_meta");
  expect(result?.["tools"]).toMatchObject(names.map((name) => ({ name })));
});

test("the endpoint of one server has its own names", async ({ expect }) => {
  const { result } = await responseIn(await modern(first, "tools/list"));
  expect(result?.["tools"]).toMatchObject([{ name: "work" }]);
  const params = { name: "work", arguments: {} };
  expect(await responseIn(await modern(first, "tools/call", params))).toHaveProperty("result");
});

describe.for(["merged", "alone"] as const)("%s, what is forbidden", (place) => {
  const at = (): Pick<Upstream, "mcp"> => (place === "merged" ? MCP : guarded);
  const nameOf = (name: string): string => (place === "merged" ? toolOf(guarded, name) : name);

  test("is not listed", async ({ expect }) => {
    const { result } = await responseIn(await modern(at(), "tools/list"));
    const tools = JSON.stringify(result?.["tools"]);
    expect(tools).toContain("work");
    expect(tools).not.toContain("secret");
  });

  test("is refused as if it were not there, and the server does not hear of it", async ({
    expect,
  }) => {
    const errors = await Promise.all(
      ["secret", "absent"].map(async (name) => {
        const params = { name: nameOf(name), arguments: {} };
        const { error } = await responseIn(await modern(at(), "tools/call", params));
        return JSON.stringify(error).replaceAll(name, "?");
      }),
    );
    expect(errors[0]).toBe(errors[1]);
    expect(errors[0]).toContain("-32602");
    expect(await guarded.sent("tools/call")).toHaveLength(0);
  });
});
