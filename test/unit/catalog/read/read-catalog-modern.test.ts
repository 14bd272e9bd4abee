/** The catalog of a server for modern clients: read request by request, or in a session. */

import { describe, test } from "vitest";

import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import {
  ALL_NAMES,
  BAD_TOOL,
  EVERYTHING,
  LIST_METHODS,
  MODERN,
  names,
  read,
} from "./catalog-reading.ts";
import { until } from "../../../support/until.ts";
import { failureOf, fakeTarget } from "../../upstream/fake-target.ts";
import { CACHEABLE, legacyServer, modernServer, naming, refusing } from "./listing-server.ts";

describe("for a modern client", () => {
  test("everything is read, request by request", async ({ expect }) => {
    const server = modernServer(EVERYTHING);
    const { catalog, ttlMs } = await read(server, MODERN, { capabilities: { sampling: {} } });
    expect(names(catalog)).toEqual(ALL_NAMES);
    expect(catalog).toMatchObject({
      ...{ flaws: [], isPublic: true },
      about: { serverInfo: { name: "modern" }, instructions: "Read me." },
    });
    expect(ttlMs).toBe(60_000);
    expect(server.asked.toSorted()).toEqual(
      // Once to find out the era, and once for what this kind of client is told.
      ["server/discover", "server/discover", ...LIST_METHODS].toSorted(),
    );
    expect(server.seen.at(-1)?.body["params"]).toMatchObject({
      _meta: {
        "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
        "io.modelcontextprotocol/clientInfo": { name: "edgeway" },
      },
    });
  });

  test("discovery that a server refuses for a revision which it then names is repeated once", async ({
    expect,
  }) => {
    const found = { ...CACHEABLE, supportedVersions: [MODERN], capabilities: { tools: {} } };
    const serving = (refusals: number, ...named: readonly string[]) => {
      let asked = 0;
      return modernServer({
        ...EVERYTHING,
        "server/discover": (seen) => {
          asked += 1;
          // The first one finds out the era.
          return asked > 1 && asked <= 1 + refusals ? naming(...named)(seen) : found;
        },
      });
    };
    const once = serving(1, MODERN);
    expect(names((await read(once, MODERN)).catalog)).toEqual(ALL_NAMES);
    expect(once.asked.filter((method) => method === "server/discover")).toHaveLength(3);

    const always = serving(Infinity, MODERN);
    expect(await failureOf(read(always, MODERN))).toMatchObject({ failure: "malformed" });
    expect(always.asked.filter((method) => method === "server/discover")).toHaveLength(3);

    const other = serving(1, "2027-01-01");
    expect(await failureOf(read(other, MODERN))).toMatchObject({ failure: "malformed" });
    expect(other.asked.filter((method) => method === "server/discover")).toHaveLength(2);
  });

  test("lists that discovery does not advertise are requested", async ({ expect }) => {
    const { "prompts/list": prompts } = EVERYTHING;
    const { catalog } = await read(modernServer({ "prompts/list": prompts }, {}), MODERN);
    expect(names(catalog)).toEqual({ tools: [], resources: [], templates: [], prompts: ["p"] });
    expect(catalog.flaws).toEqual([]);
  });

  test("a list that is advertised and unknown is empty, with a flaw", async ({ expect }) => {
    const { catalog } = await read(modernServer({}, { tools: {} }), MODERN);
    expect(catalog.flaws).toEqual([
      'Upstream "docs" says that it has tools, but does not know tools/list',
    ]);
    expect(catalog.isPublic).toBe(false);
  });

  test("serverInfo is in _meta, or in the body of older servers", async ({ expect }) => {
    const discovery = { ...CACHEABLE, supportedVersions: [MODERN], capabilities: {} };
    const identity = { name: "in meta", version: "2" };
    const { catalog } = await read(
      modernServer({
        "server/discover": {
          ...{ ...discovery, serverInfo: { name: "in the body" } },
          _meta: { "io.modelcontextprotocol/serverInfo": identity },
        },
      }),
      MODERN,
    );
    expect(catalog.about).toEqual({ capabilities: {}, serverInfo: identity });
    expect(catalog.about.instructions).toBeUndefined();
  });

  test("a tool with invalid header annotations is left out", async ({ expect }) => {
    const server = modernServer({ "tools/list": { tools: [BAD_TOOL, { name: "good" }] } });
    const { catalog } = await read(server, MODERN);
    expect(names(catalog)["tools"]).toEqual(["good"]);
    expect(catalog.flaws).toContain(
      '1 tool of upstream "docs" is left out: header annotations that break the rules',
    );
  });

  test("one private list makes the whole catalog private", async ({ expect }) => {
    const own = { ...EVERYTHING["prompts/list"], cacheScope: "private", ttlMs: 1 };
    const { catalog, ttlMs } = await read(
      modernServer({ ...EVERYTHING, "prompts/list": own }),
      MODERN,
    );
    expect([catalog.isPublic, ttlMs]).toEqual([false, 1]);
  });

  test("a server without a TTL leaves it open", async ({ expect }) => {
    const { ttlMs } = await read(modernServer({ "tools/list": { tools: [] } }), MODERN);
    expect(ttlMs).toBeUndefined();
  });

  test("a server with later revisions only is of the other era", async ({ expect }) => {
    const server = modernServer({ "server/discover": naming("2027-01-01") });
    expect(await failureOf(read(server, MODERN))).toMatchObject({
      ...{ name: "UpstreamError", failure: "other-era" },
      message: 'Upstream "docs" speaks none of this gateway\'s revisions',
    });
    expect(server.asked).toEqual(["server/discover"]);
  });

  test("a result that asks for input is no list", async ({ expect }) => {
    const asking = { resultType: "input_required", inputRequests: {}, tools: [] };
    expect(await failureOf(read(modernServer({ "tools/list": asking }), MODERN))).toMatchObject({
      ...{ failure: "malformed" },
      message: 'Upstream "docs" answered tools/list with a wrong type of result',
    });
  });
});

describe("for a modern client, a legacy server", () => {
  test.for<{ name: string; target: Partial<UpstreamTarget>; before: readonly string[] }>([
    { name: "that shows it", target: {}, before: ["server/discover"] },
    { name: "that is configured as one", target: { era: "legacy" }, before: [] },
  ])("$name is read in a session, which is closed", async ({ target, before }, { expect }) => {
    const server = legacyServer(EVERYTHING);
    const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
    const { catalog } = await read(server, MODERN, { target, capabilities });
    expect(names(catalog)).toEqual(ALL_NAMES);
    expect(catalog).toMatchObject({
      ...{ era: "legacy", flaws: [] },
      about: { serverInfo: { name: "legacy" }, instructions: "Read me." },
    });
    await until(() => server.asked.includes("DELETE"), "the end of the session");
    const opened = server.asked.slice(0, before.length + 2);
    expect(opened).toEqual([...before, "initialize", "notifications/initialized"]);
    expect(server.asked.slice(before.length + 2).toSorted()).toEqual(
      ["DELETE", ...LIST_METHODS].toSorted(),
    );
    const opening = server.seen.find(({ body }) => body["method"] === "initialize");
    expect(opening?.body["params"]).toEqual({
      // The newest that its era has, as a client that can be asked for the same.
      ...{ protocolVersion: "2025-11-25", capabilities },
      clientInfo: { name: "edgeway", version: expect.any(String) as string },
    });
  });

  test("keeps tools with invalid header annotations, which mean nothing there", async ({
    expect,
  }) => {
    const { catalog } = await read(legacyServer({ "tools/list": { tools: [BAD_TOOL] } }), MODERN);
    expect(names(catalog)["tools"]).toEqual(["bad"]);
  });
});

test("a server that has changed its era is asked again", async ({ expect }) => {
  let isModern = true;
  const legacy = legacyServer(EVERYTHING);
  const modern = modernServer({ ...EVERYTHING, initialize: refusing(-32022, 400) });
  const target = fakeTarget((seen) => (isModern ? modern : legacy).answer(seen), { slug: "docs" });
  const again = async (): Promise<string> => (await read(modern, MODERN, { target })).catalog.era;
  expect(await again()).toBe("modern");
  isModern = false;
  expect(await again()).toBe("legacy");
  isModern = true;
  expect(await again()).toBe("modern");
});
