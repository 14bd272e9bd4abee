/** The catalog of a server for modern clients: read request by request. */

import { describe, test } from "vitest";

import type { UpstreamTarget } from "../../src/upstream/target.ts";
import {
  ALL_NAMES,
  BAD_TOOL,
  EVERYTHING,
  LIST_METHODS,
  MODERN,
  names,
  read,
} from "./catalog-reading.ts";
import { failureOf, fakeTarget, json } from "./fake-target.ts";
import { CACHEABLE, legacyServer, type Listing, modernServer } from "./listing-server.ts";

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

  test("lists are asked for that discovery says nothing of", async ({ expect }) => {
    const { "prompts/list": prompts } = EVERYTHING;
    const { catalog } = await read(modernServer({ "prompts/list": prompts }, {}), MODERN);
    expect(names(catalog)).toEqual({ tools: [], resources: [], templates: [], prompts: ["p"] });
    expect(catalog.flaws).toEqual([]);
  });

  test("what is advertised and not there is an empty list, and a flaw", async ({ expect }) => {
    const { catalog } = await read(modernServer({}, { tools: {} }), MODERN);
    expect(catalog.flaws).toEqual([
      'Upstream "docs" says that it has tools, but does not know tools/list',
    ]);
    expect(catalog.isPublic).toBe(false);
  });

  test("who it is stands in _meta, or in the body of older servers", async ({ expect }) => {
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

  test("a tool whose header annotations break the rules is left out", async ({ expect }) => {
    const server = modernServer({ "tools/list": { tools: [BAD_TOOL, { name: "good" }] } });
    const { catalog } = await read(server, MODERN);
    expect(names(catalog)["tools"]).toEqual(["good"]);
    expect(catalog.flaws).toContain(
      '1 tool of upstream "docs" is left out: header annotations that break the rules',
    );
  });

  test("what one list keeps for some, the whole catalog does", async ({ expect }) => {
    const own = { ...EVERYTHING["prompts/list"], cacheScope: "private", ttlMs: 1 };
    const { catalog, ttlMs } = await read(
      modernServer({ ...EVERYTHING, "prompts/list": own }),
      MODERN,
    );
    expect([catalog.isPublic, ttlMs]).toEqual([false, 1]);
  });

  test("a server that says nothing of time leaves it open", async ({ expect }) => {
    const { ttlMs } = await read(modernServer({ "tools/list": { tools: [] } }), MODERN);
    expect(ttlMs).toBeUndefined();
  });

  test.for<{ name: string; listing: Listing; message: string; target?: Partial<UpstreamTarget> }>([
    {
      name: "a legacy server",
      listing: legacyServer(EVERYTHING),
      message: 'Upstream "docs" speaks only the legacy era (before 2026-07-28)',
    },
    {
      name: "a server that is configured as one",
      listing: modernServer(EVERYTHING),
      message: 'Upstream "docs" speaks only the legacy era (before 2026-07-28)',
      target: { era: "legacy" },
    },
    {
      name: "a server of later revisions only",
      listing: modernServer({
        "server/discover": ({ body }) =>
          json(
            {
              ...{ jsonrpc: "2.0", id: body["id"] },
              error: { code: -32022, message: "no", data: { supported: ["2027-01-01"] } },
            },
            { status: 400 },
          ),
      }),
      message: 'Upstream "docs" speaks none of this gateway\'s revisions',
    },
  ])("$name is of the other era", async ({ listing, message, target }, { expect }) => {
    const failure = await failureOf(read(listing, MODERN, { target: target ?? {} }));
    expect(failure).toMatchObject({ name: "UpstreamError", failure: "other-era", message });
  });

  test("a server that has changed its era is asked anew the next time", async ({ expect }) => {
    let isModern = true;
    const [modern, legacy] = [modernServer(EVERYTHING), legacyServer(EVERYTHING)];
    const target = fakeTarget((seen) => (isModern ? modern : legacy).answer(seen), {
      slug: "docs",
    });
    const again = (): Promise<unknown> => failureOf(read(modern, MODERN, { target }));
    expect(await again()).toBeUndefined();
    isModern = false;
    expect(await again()).toMatchObject({ failure: "malformed" });
    expect(await again()).toMatchObject({ failure: "other-era" });
  });

  test("a list that asks questions first is no list", async ({ expect }) => {
    const asking = { resultType: "input_required", inputRequests: {}, tools: [] };
    expect(await failureOf(read(modernServer({ "tools/list": asking }), MODERN))).toMatchObject({
      ...{ failure: "malformed" },
      message: 'Upstream "docs" answered tools/list with a wrong type of result',
    });
  });
});
