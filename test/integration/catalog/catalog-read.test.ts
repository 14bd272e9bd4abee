/** Everything that a server lists, read over every kind of wire; and servers that make it hard. */

import { describe, inject, test } from "vitest";

import type { Catalog } from "../../../src/catalog/catalog.ts";
import { readCatalog, type ReadCatalog } from "../../../src/catalog/read/read-catalog.ts";
import { clientKind } from "../../../src/endpoint/client-kind.ts";
import { OPEN_POLICY } from "../../../src/policy/item-policy.ts";
import { defaultLimits, type Limits } from "../../../src/policy/limits.ts";
import type { Revision } from "../../../src/protocol/revisions.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { UpstreamError } from "../../../src/upstream/upstream-error.ts";
import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { until, within } from "../bounded.ts";
import { event, jsonOf, JSON_TYPE, streamOf, Upstream } from "../upstream.ts";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";

interface Reading {
  readonly revision?: Revision;
  readonly limits?: Partial<Limits>;
  readonly capabilities?: Json;
  readonly signal?: AbortSignal;
  readonly target?: Partial<UpstreamTarget>;
}

function read(upstream: Upstream, options: Reading = {}): Promise<ReadCatalog> {
  const { revision = LEGACY, capabilities = {}, limits, signal } = options;
  const { slug } = upstream;
  const target: UpstreamTarget = {
    ...{ slug, endpoint: new URL(`${inject("scripted")}/u/${slug}`), headers: {} },
    fetch: (url, init) => fetch(url, init),
    ...{ transport: "auto", era: "auto", timeoutMs: 60_000, maxMessageChars: 1_000_000 },
    ...options.target,
  };
  const policies = { tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY };
  const reading = readCatalog(
    { slug, target, auth: { kind: "none" }, prefix: `${slug}__`, ...policies },
    clientKind(revision, capabilities),
    { ...defaultLimits(), ...limits },
    signal ?? new AbortController().signal,
  );
  return within(reading, "the catalog");
}

const namesOf = ({ lists }: Catalog): Json =>
  Object.fromEntries(
    Object.entries(lists).map(([list, items]) => [list, items.map(({ name }) => name).join(" ")]),
  );

const tools = (...names: readonly string[]): readonly Json[] =>
  names.map((name) => ({ name, inputSchema: { type: "object" } }));
const page = (member: string, things: readonly Json[], nextCursor?: string): Reaction =>
  jsonOf({ result: { [member]: things, ...(nextCursor === undefined ? {} : { nextCursor }) } });

/** Lists of several pages, each met once. */
const paged = (): NonNullable<Script["reactions"]> => ({
  "tools/list": [
    page("tools", tools("b", "a"), "1"),
    page("tools", [], "2"),
    page("tools", tools("c")),
  ],
  "resources/list": [page("resources", [{ uri: "r:1", name: "r" }])],
  "resources/templates/list": [page("resourceTemplates", [{ uriTemplate: "r:{x}", name: "r" }])],
  "prompts/list": [page("prompts", [{ name: "p" }], "p2"), page("prompts", [{ name: "q" }])],
});
const ALL = { tools: "b a c", resources: "r:1", templates: "r:{x}", prompts: "p q" };

describe("every page of every list is read", () => {
  test.for<{ server: Script["server"]; revision: Revision; kind?: "sse" }>([
    { server: "legacy", revision: "2025-03-26" },
    { server: "legacy", revision: LEGACY },
    { server: "dual", revision: LEGACY },
    { server: "sse", revision: "2024-11-05" },
    { server: "modern", revision: MODERN },
    { server: "dual", revision: MODERN },
  ])("of a server that is $server, for a client of $revision", async (row, { expect }) => {
    const { server, revision } = row;
    const upstream = await Upstream.take({ server, reactions: sseOr(server, paged()) });
    const { catalog } = await read(upstream, { revision });
    expect(namesOf(catalog)).toEqual(ALL);
    expect(catalog.flaws).toEqual([]);
    expect(catalog.about.serverInfo).toMatchObject({ name: "scripted" });
    const cursors = (await upstream.sent("tools/list")).map(({ body }) => body?.params?.["cursor"]);
    expect(cursors).toEqual([undefined, "1", "2"]);
    const protocols = new Set(
      (await upstream.sent("tools/list")).map(({ headers }) => headers["mcp-protocol-version"]),
    );
    if (server !== "sse") expect([...protocols]).toEqual([revision]);
  });
});

/** Over HTTP+SSE, answers come as events. */
function sseOr(
  server: Script["server"],
  reactions: NonNullable<Script["reactions"]>,
): NonNullable<Script["reactions"]> {
  if (server !== "sse") return reactions;
  return Object.fromEntries(
    Object.entries(reactions).map(([method, list]) => [
      method,
      list.map(({ pieces = [] }) => ({
        end: "never",
        pieces: pieces.map((piece) =>
          typeof piece === "string"
            ? `event: message
data: ${piece}

`
            : piece,
        ),
      })),
    ]),
  );
}

describe("a session of the gateway's own", () => {
  test("is opened before it is used, and closed when all is read", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", tools: tools("a") });
    await read(upstream);
    const log = await until(async () => {
      const records = await upstream.log();
      return records.some(({ method }) => method === "DELETE") ? records : undefined;
    }, "the end of the session");
    const [first, second] = log.map(({ body }) => body?.method);
    expect([first, second]).toEqual(["initialize", "notifications/initialized"]);
    expect(await upstream.sessions()).toHaveLength(1);
    // Nobody listens who only reads.
    expect(log.filter(({ method }) => method === "GET")).toEqual([]);
  });

  test("is closed when a list fails, too", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "prompts/list": [jsonOf({ error: { code: -32603, message: "SECRET" } })] },
    });
    const message = `Upstream "${upstream.slug}" answered prompts/list with error -32603`;
    expect((await read(upstream)).catalog.faults).toMatchObject([{ list: "prompts", message }]);
    await upstream.receives("DELETE");
  });

  test("is closed when no list can be had, too", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      capabilities: { prompts: {} },
      reactions: { "prompts/list": [jsonOf({ error: { code: -32603, message: "SECRET" } })] },
    });
    await expect(read(upstream)).rejects.toThrow(
      `Upstream "${upstream.slug}" answered prompts/list with error -32603`,
    );
    await upstream.receives("DELETE");
  });

  test("over HTTP+SSE, has its stream closed", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "sse", tools: tools("a") });
    expect(namesOf((await read(upstream)).catalog)["tools"]).toBe("a");
    await until(async () => {
      const streams = await upstream.sent("GET");
      return streams.every(({ isCutOff }) => isCutOff) ? true : undefined;
    }, "the stream to be left");
  });

  test("answers questions with an error", async ({ expect }) => {
    const question = { id: "q", method: "roots/list" };
    const answer = { id: "{{id}}", result: { tools: tools("a") } };
    const upstream = await Upstream.take({
      server: "legacy",
      capabilities: { tools: {} },
      reactions: { "tools/list": [streamOf(event(question), { gate: "asked" }, event(answer))] },
    });
    const reading = read(upstream, { capabilities: { roots: {} } });
    expect(await upstream.receivesAnswer("q")).toMatchObject({ error: { code: -32600 } });
    await upstream.open("asked");
    expect(namesOf((await reading).catalog)["tools"]).toBe("a");
  });

  test("that is forgotten in between is opened anew", async ({ expect }) => {
    const forgotten = { ...jsonOf({ error: { code: -32001, message: "no" } }, 404) };
    const upstream = await Upstream.take({
      ...{ server: "legacy", capabilities: { tools: {} }, tools: tools("a") },
      reactions: { "tools/list": [forgotten] },
    });
    expect(namesOf((await read(upstream)).catalog)["tools"]).toBe("a");
    expect(await upstream.sent("initialize")).toHaveLength(2);
  });
});

describe.for([
  { era: "legacy", revision: LEGACY },
  { era: "modern", revision: MODERN },
] as const)("a $era server", ({ era, revision }) => {
  const taking = (reactions: NonNullable<Script["reactions"]>): Promise<Upstream> =>
    Upstream.take({ server: era, tools: tools("a"), reactions });

  test("that stalls is left when the time is over, in mid-list or before", async ({ expect }) => {
    const opening = era === "legacy" ? "initialize" : "server/discover";
    for (const method of [opening, "prompts/list"]) {
      const upstream = await taking({ [method]: [{ heldBy: "never" }, { heldBy: "never" }] });
      const controller = new AbortController();
      const reading = read(upstream, { revision, signal: controller.signal });
      const isLate = new UpstreamError(upstream.slug, "timeout", "is late");
      void upstream.receives(method).then(() => controller.abort(isLate));
      await expect(reading).rejects.toBe(isLate);
      await until(async () => {
        const [stalled] = await upstream.sent(method);
        return stalled?.isCutOff === true ? true : undefined;
      }, "the request to be left");
    }
  });

  test.for<{ name: string; reaction: Reaction; failure: string }>([
    {
      name: "garbage",
      reaction: { headers: JSON_TYPE, pieces: ["<h1>SECRET</h1>"] },
      failure: "malformed",
    },
    { name: "nothing", reaction: { status: 0 }, failure: "unreachable" },
    { name: "503", reaction: { status: 503, pieces: ["SECRET"] }, failure: "unreachable" },
    { name: "429", reaction: { status: 429 }, failure: "overloaded" },
    {
      name: "a broken list",
      reaction: { headers: JSON_TYPE, pieces: ['{"jsonrpc":"2.0","id":'], end: "reset" },
      failure: "lost",
    },
    {
      name: "no list",
      reaction: jsonOf({ result: { tools: { a: 1 } } }),
      failure: "malformed",
    },
  ])("that answers with $name has no catalog", async ({ reaction, failure }, { expect }) => {
    const upstream = await taking({ "tools/list": [{ ...reaction, isLasting: true }] });
    const error: unknown = await read(upstream, { revision }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "UpstreamError", failure });
    expect(String(error)).toContain(`Upstream "${upstream.slug}"`);
    expect(String(error)).not.toContain("SECRET");
  });

  test("that lists 50 MB is left before it has sent them", async ({ expect }) => {
    const chunk = `{"name":"t","description":"${"x".repeat(1_000_000)}"},`;
    const pieces = [
      '{"jsonrpc":"2.0","id":"{{id}}","result":{"tools":[',
      ...Array<string>(50).fill(chunk),
    ];
    const upstream = await taking({ "tools/list": [{ headers: JSON_TYPE, pieces }] });
    await expect(read(upstream, { revision })).rejects.toMatchObject({
      message: `Upstream "${upstream.slug}" sent a message of over 1000000 characters`,
    });
    await until(async () => {
      const [sent] = await upstream.sent("tools/list");
      return sent?.isCutOff === true ? true : undefined;
    }, "the answer to be left");
  });

  test("whose cursors go in a circle has what came before", async ({ expect }) => {
    const upstream = await taking({
      "tools/list": [
        page("tools", tools("a"), "x"),
        page("tools", tools("b"), "y"),
        page("tools", tools("c"), "x"),
      ],
    });
    const { catalog } = await read(upstream, { revision });
    expect(namesOf(catalog)["tools"]).toBe("a b c");
    expect(catalog.flaws[0]).toBe(
      `Upstream "${upstream.slug}" lists its tools in a circle; the first 3 are shown`,
    );
  });

  test("with 10,000 tools has them all", async ({ expect }) => {
    const pages = Array.from({ length: 10 }, (_, n) =>
      page(
        "tools",
        tools(...Array.from({ length: 1000 }, (_, at) => `tool-${n}-${at}`)),
        n < 9 ? `${n + 1}` : undefined,
      ),
    );
    const { catalog } = await read(await taking({ "tools/list": pages }), { revision });
    expect(catalog.lists.tools).toHaveLength(10_000);
    expect(catalog.lists.tools.at(-1)?.name).toBe("tool-9-999");
  });
});
