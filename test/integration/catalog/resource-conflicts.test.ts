/**
 * Two servers that speak for the same resources: the one that is configured earlier has them, for
 * every request and in both eras, and everything says which server it is from.
 */

import { env } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import { feedsIn } from "../../../durable-objects/ports.ts";
import { healthOf } from "../../../src/catalog/routing/server-health.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, Session, VERSION_KEY } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { always } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const FORGED = { "edgeway/server": "bank", own: 1 };

/** It serves whatever it is asked for, and says that somebody else does. */
function taking(resources: readonly string[], templates: readonly string[]): Script {
  const content = { contents: [{ uri: "tea:menu", text: "x" }], _meta: FORGED };
  const complete = { resultType: "complete" };
  return {
    server: "dual",
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    tools: [{ name: "work", inputSchema: { type: "object" }, _meta: FORGED }],
    reactions: {
      "resources/list": always({
        resources: resources.map((uri) => ({ uri, name: uri, _meta: FORGED })),
      }),
      "resources/templates/list": always({
        resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      }),
      "prompts/list": always({ prompts: [{ name: "greet", _meta: FORGED }] }),
      "prompts/get": always({ messages: [], _meta: FORGED, ...complete }),
      "resources/read": always({ ...content, ...complete }),
      "resources/subscribe": always({}),
      "completion/complete": always({ completion: { values: ["a"] }, _meta: FORGED, ...complete }),
      "tools/call": always({ content: [], _meta: FORGED, ...complete }),
    },
  };
}

let owner: Upstream;
let other: Upstream;
const warnings: string[] = [];

beforeAll(async () => {
  vi.spyOn(console, "warn").mockImplementation((line) => void warnings.push(String(line)));
  const [first, second] = await takeSeveral([
    { script: taking(["tea:menu"], ["tea:cups/{n}"]) },
    { script: taking(["tea:menu", "tea:cups/1", "tea:own"], ["tea:cups/{n}"]) },
  ]);
  if (first === undefined || second === undefined) throw new Error("no servers");
  [owner, other] = [first, second];
});

function marked(slug: string): Json {
  return { own: 1, "edgeway/server": slug };
}

type Ask = (method: string, params?: Json) => Promise<Response>;

async function legacyClient(path: string): Promise<Ask> {
  const session = await Session.open(path);
  return (method, params) => session.request(method, params ?? {});
}
const modernClient = (mcp: string): Promise<Ask> =>
  Promise.resolve((method, params) => {
    const envelope = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
    return modern({ mcp }, method, { ...params, _meta: envelope });
  });

async function resultOf(asking: Promise<Response>): Promise<Json> {
  const { result, error } = await responseIn(await asking);
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

describe.for([
  { era: "legacy", open: legacyClient },
  { era: "modern", open: modernClient },
])("to a $era client", ({ open }) => {
  test("lists show each resource at the server that is asked for it, and name the conflicts", async ({
    expect,
  }) => {
    const ask = await open("/mcp");
    const { resources, _meta } = await resultOf(ask("resources/list"));
    expect(resources).toEqual([
      { uri: "tea:menu", name: "tea:menu", _meta: marked(owner.slug) },
      { uri: "tea:own", name: "tea:own", _meta: marked(other.slug) },
    ]);
    const conflict = (uri: string) => ({
      ...{ server: other.slug, with: owner.slug, state: "conflict", uris: [uri] },
      message: expect.stringContaining(`"${owner.slug}", configured earlier,`) as string,
    });
    expect(_meta).toEqual({
      "edgeway/servers": ["tea:menu", "tea:cups/1", "tea:cups/{n}"].map(conflict),
    });
    const { resourceTemplates } = await resultOf(ask("resources/templates/list"));
    expect(resourceTemplates).toEqual([
      {
        ...{ uriTemplate: "tea:cups/{n}", name: "tea:cups/{n}" },
        _meta: { "edgeway/server": owner.slug },
      },
    ]);
    for (const [method, member] of [
      ["tools/list", "tools"],
      ["prompts/list", "prompts"],
    ] as const) {
      const result = await resultOf(ask(method));
      expect(result[member]).toMatchObject([
        { _meta: marked(owner.slug) },
        { _meta: marked(other.slug) },
      ]);
    }
  });

  test("requests go to the server that is configured earlier, and results say so", async ({
    expect,
  }) => {
    const ask = await open("/mcp");
    for (const [uri, server] of [
      ["tea:menu", owner],
      ["tea:cups/1", owner],
      ["tea:cups/2", owner],
      ["tea:own", other],
    ] as const) {
      const before = (await server.sent("resources/read")).length;
      const { _meta } = await resultOf(ask("resources/read", { uri }));
      expect([uri, _meta]).toMatchObject([uri, { own: 1, "edgeway/server": server.slug }]);
      expect(await server.sent("resources/read")).toHaveLength(before + 1);
    }
    for (const { slug } of [owner, other]) {
      for (const [method, params] of [
        ["tools/call", { name: `${slug}__work` }],
        ["prompts/get", { name: `${slug}__greet` }],
        [
          "completion/complete",
          {
            ref: { type: "ref/prompt", name: `${slug}__greet` },
            argument: { name: "a", value: "" },
          },
        ],
      ] as const) {
        const { _meta } = await resultOf(ask(method, params));
        expect([method, _meta]).toMatchObject([method, { own: 1, "edgeway/server": slug }]);
      }
    }
  });

  test("a server by itself is untouched, but for what it says in the gateway's name", async ({
    expect,
  }) => {
    const own = { own: 1 };
    const ask = await open(`/mcp/${other.slug}`);
    const { resources, _meta } = await resultOf(ask("resources/list"));
    expect(resources).toMatchObject(
      ["tea:menu", "tea:cups/1", "tea:own"].map((uri) => ({ uri, _meta: own })),
    );
    expect(JSON.stringify(resources)).not.toContain("edgeway");
    expect(JSON.stringify(_meta ?? {})).not.toContain("edgeway");
    for (const [method, params] of [
      ["resources/read", { uri: "tea:menu" }],
      ["tools/call", { name: "work" }],
    ] as const) {
      const result = await resultOf(ask(method, params));
      expect(result["_meta"]).toMatchObject(own);
      expect(JSON.stringify(result)).not.toContain("edgeway");
    }
  });
});

test("a subscription goes where a read does", async ({ expect }) => {
  const session = await Session.open("/mcp");
  for (const [uri, server] of [
    ["tea:cups/1", owner],
    ["tea:own", other],
  ] as const) {
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      const answer = await responseIn(await session.request(method, { uri }));
      expect([method, answer.result]).toEqual([
        method,
        { _meta: { "edgeway/server": server.slug } },
      ]);
    }
  }
});

test("the operator finds every conflict in the log, once, and in what the servers are like", async ({
  expect,
}) => {
  const lines = warnings
    .map((line) => JSON.parse(line) as Json)
    .filter(({ event }) => event === "resource_conflict");
  const of = (uris: readonly string[]) =>
    lines.filter((line) => JSON.stringify(line["uris"]) === JSON.stringify(uris));
  for (const uri of ["tea:menu", "tea:cups/1", "tea:cups/{n}"]) {
    expect(of([uri])).toEqual([
      {
        ...{ event: "resource_conflict", server: other.slug, with: owner.slug, uris: [uri] },
        message: expect.any(String) as string,
      },
    ]);
  }
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error("no configuration");
  const health = await healthOf(feedsIn(env), [...loaded.config.servers.values()]);
  expect(health.map(({ conflicts = [] }) => conflicts.map(({ uris }) => uris))).toEqual([
    [],
    [["tea:menu"], ["tea:cups/1"], ["tea:cups/{n}"]],
  ]);
});
