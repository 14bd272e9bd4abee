/** The catalog of a server for legacy clients: read in a session, or in the server's era. */

import { describe, test } from "vitest";

import type { Revision } from "../../../../src/protocol/revisions.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { until } from "../../../support/until.ts";
import {
  ALL_NAMES,
  BAD_TOOL,
  EVERYTHING,
  LEGACY,
  LIST_METHODS,
  names,
  read,
} from "./catalog-reading.ts";
import { bodyOf, bytesOf, failureOf, fakeTarget, html } from "../../upstream/fake-target.ts";
import { legacyServer, type Methods, modernServer, naming, refusing } from "./listing-server.ts";

describe("for a legacy client", () => {
  test("everything is read in a session of its own, which is closed", async ({ expect }) => {
    const server = legacyServer(EVERYTHING);
    const { catalog, ttlMs } = await read(server, LEGACY, { capabilities: { sampling: {} } });
    expect(names(catalog)).toEqual(ALL_NAMES);
    expect(catalog).toMatchObject({
      ...{ flaws: [], isPublic: true },
      about: { serverInfo: { name: "legacy" }, instructions: "Read me." },
    });
    expect(ttlMs).toBe(60_000);
    await until(() => server.asked.includes("DELETE"), "the end of the session");
    expect(server.asked.slice(0, 2)).toEqual(["initialize", "notifications/initialized"]);
    expect(server.asked.slice(2).toSorted()).toEqual(["DELETE", ...LIST_METHODS].toSorted());
    expect(server.seen[0]?.body["params"]).toEqual({
      ...{ protocolVersion: LEGACY, capabilities: { sampling: {} } },
      clientInfo: { name: "edgeway", version: expect.any(String) as string },
    });
  });

  test("lists that are not advertised are not requested", async ({ expect }) => {
    const server = legacyServer(EVERYTHING, { prompts: {} });
    const { catalog } = await read(server, LEGACY);
    expect(names(catalog)).toEqual({ tools: [], resources: [], templates: [], prompts: ["p"] });
    expect(server.asked.filter((method) => LIST_METHODS.includes(method))).toEqual([
      "prompts/list",
    ]);
    expect(catalog.flaws).toEqual([]);
  });

  test("a list that is advertised and unknown is empty, with a flaw", async ({ expect }) => {
    const { catalog } = await read(legacyServer({ "prompts/list": { prompts: [] } }), LEGACY);
    expect(names(catalog)).toEqual({ tools: [], resources: [], templates: [], prompts: [] });
    expect(catalog.flaws).toEqual([
      'Upstream "docs" says that it has tools, but does not know tools/list',
      'Upstream "docs" says that it has resources, but does not know resources/list',
    ]);
  });

  test("tools keep their header annotations, which mean nothing here", async ({ expect }) => {
    const { catalog } = await read(legacyServer({ "tools/list": { tools: [BAD_TOOL] } }), LEGACY);
    expect(catalog.lists.tools).toHaveLength(1);
  });

  test("a request of the server gets an error", async ({ expect }) => {
    const { promise: answered, resolve } = Promise.withResolvers<unknown>();
    const server = legacyServer(
      {
        "tools/list": ({ body }) => {
          const ask = { jsonrpc: "2.0", id: "q", method: "roots/list" };
          const reply = { jsonrpc: "2.0", id: body["id"], result: { tools: [{ name: "t" }] } };
          const events = [ask, reply].map((each) => `data: ${JSON.stringify(each)}\n\n`);
          return new Response(bodyOf(events.map(bytesOf)), {
            headers: { "Content-Type": "text/event-stream" },
          });
        },
      },
      { tools: {} },
    );
    const answer = server.answer;
    const reading = read(
      {
        answer: (seen) => {
          if (seen.body["id"] === "q") resolve(seen.body);
          return answer(seen);
        },
      },
      LEGACY,
      { capabilities: { roots: {} } },
    );
    expect(names((await reading).catalog)["tools"]).toEqual(["t"]);
    expect(await answered).toMatchObject({ id: "q", error: { code: -32600 } });
  });

  test("the session is closed after a failure, too", async ({ expect }) => {
    const server = legacyServer({ "prompts/list": refusing(-32603) }, { prompts: {} });
    expect(await failureOf(read(server, LEGACY))).toMatchObject({
      message: 'Upstream "docs" answered prompts/list with error -32603',
    });
    await until(() => server.asked.includes("DELETE"), "the end of the session");
  });
});

describe("for a legacy client, a modern server", () => {
  const DECLARED = { sampling: {}, elicitation: { form: {} } };
  const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

  test.for<{
    name: string;
    methods: Methods;
    before: readonly string[];
    target?: Partial<UpstreamTarget>;
  }>([
    {
      name: "that refuses initialize like one",
      methods: { initialize: refusing(-32022, 400) },
      before: ["initialize"],
    },
    {
      name: "that refuses it in another way",
      methods: { initialize: refusing(-32600, 400) },
      // Where HTTP+SSE would be.
      before: ["initialize", "GET"],
    },
    {
      name: "that has no such endpoint",
      methods: { initialize: () => html(405) },
      before: ["initialize", "GET"],
    },
    { name: "that is configured as one", methods: {}, before: [], target: { era: "modern" } },
  ])("$name is read request by request", async ({ methods, before, target }, { expect }) => {
    const server = modernServer({ ...EVERYTHING, ...methods });
    const { catalog, ttlMs } = await read(server, LEGACY, {
      capabilities: DECLARED,
      ...(target === undefined ? {} : { target }),
    });
    expect(names(catalog)).toEqual(ALL_NAMES);
    expect(catalog).toMatchObject({ era: "modern", about: { serverInfo: { name: "modern" } } });
    expect(ttlMs).toBe(60_000);
    expect(server.asked).toEqual([
      ...before,
      // Once to find out the era, and once for what this kind of client is told.
      ...["server/discover", "server/discover"],
      ...LIST_METHODS,
    ]);
    // What the client can be asked, in the words of the server's era.
    expect(server.seen.at(-1)?.body["params"]).toMatchObject({
      _meta: { [CAPABILITIES_KEY]: DECLARED },
    });
  });

  test("loses tools that a client could not call", async ({ expect }) => {
    const tools = { tools: [BAD_TOOL, { name: "good" }] };
    const server = modernServer({ "tools/list": tools, initialize: refusing(-32022, 400) });
    const { catalog } = await read(server, LEGACY);
    expect(names(catalog)["tools"]).toEqual(["good"]);
  });

  test("with later revisions only is of the other era", async ({ expect }) => {
    const server = modernServer({
      ...{ initialize: refusing(-32022, 400), "server/discover": naming("2031-01-01") },
    });
    expect(await failureOf(read(server, LEGACY))).toMatchObject({
      ...{ name: "UpstreamError", failure: "other-era" },
      message: 'Upstream "docs" speaks none of this gateway\'s revisions',
    });
    expect(server.asked).toEqual(["initialize", "server/discover"]);
  });
});

test("a server is read in its era of now, whatever it was before", async ({ expect }) => {
  let isModern = false;
  const legacy = legacyServer(EVERYTHING);
  const modern = modernServer({ ...EVERYTHING, initialize: refusing(-32022, 400) });
  const target = fakeTarget((seen) => (isModern ? modern : legacy).answer(seen), { slug: "docs" });
  const eraFor = async (revision: Revision): Promise<string> =>
    (await read(legacy, revision, { target })).catalog.era;
  // A modern client finds out that it is legacy, which is remembered.
  expect(await eraFor("2026-07-28")).toBe("legacy");
  isModern = true;
  expect(await eraFor(LEGACY)).toBe("modern");
  isModern = false;
  expect(await eraFor(LEGACY)).toBe("legacy");
});
