/** Every spelling of the table does what the table says of it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseConfig } from "../../../../src/config/config.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { EntryNotice } from "../../../../src/observability/health.ts";
import { type Meaning, SPELLINGS, transportOf } from "../../../../src/config/clients/spellings.ts";

const URL_A = "https://a.example.com/mcp";

function parse(entry: object): { server: Server | undefined; notice: EntryNotice | undefined } {
  const parsed = parseConfig({ AUTH_MODE: "none", KEY: "k1", MCP_SERVERS: { a: entry } });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return { server: parsed.config.servers.get("a"), notice: parsed.config.notices[0] };
}

function allowed(tools: unknown): unknown {
  return parse({ url: URL_A, tools }).server?.tools.allow?.map(({ pattern }) => pattern);
}

/** The same entry, with its keys in any order. */
function shuffled(entry: object): fc.Arbitrary<object> {
  const keys = Object.entries(entry);
  return fc
    .shuffledSubarray(keys, { minLength: keys.length })
    .map((all) => Object.fromEntries(all) as object);
}

/** @returns what an entry with this key becomes, and what it should. */
const MEANINGS: Readonly<Record<Meaning, (key: string) => readonly [unknown, unknown]>> = {
  url: (key) => [parse({ [key]: URL_A }).server?.target.endpoint.href, URL_A],
  type: (key) => [parse({ url: URL_A, [key]: "SSE" }).server?.target.transport, "sse"],
  timeoutSeconds: (key) => [parse({ url: URL_A, [key]: 7 }).server?.target.timeoutMs, 7000],
  headers: (key) => [
    parse({ url: URL_A, headers: { B: "2" }, [key]: { A: "1-${KEY}" } }).server?.target.headers,
    { A: "1-k1", B: "2" },
  ],
  token: (key) => [
    parse({ url: URL_A, [key]: "KEY" }).server?.target.headers,
    { Authorization: "Bearer k1" },
  ],
  "secret-headers": (key) => [
    parse({ url: URL_A, [key]: { A: "KEY" } }).server?.target.headers,
    { A: "k1" },
  ],
  allow: (key) => {
    const { tools } = parse({ url: URL_A, [key]: ["a", "b"], tools: { deny: ["c"] } }).server ?? {};
    return [
      [tools?.allow?.map(({ pattern }) => pattern), tools?.deny.map(({ pattern }) => pattern)],
      [["a", "b"], ["c"]],
    ];
  },
  deny: (key) => {
    const { tools } = parse({ url: URL_A, tools: { deny: ["c"] }, [key]: ["a"] }).server ?? {};
    return [tools?.deny.map(({ pattern }) => pattern), ["a", "c"]];
  },
  "off-if-true": (key) => [
    [true, false].map((value) => parse({ url: URL_A, [key]: value }).notice?.state),
    ["off", undefined],
  ],
  "off-if-false": (key) => [
    [true, false].map((value) => parse({ url: URL_A, [key]: value }).notice?.state),
    [undefined, "off"],
  ],
  program: (key) => [parse({ [key]: "npx" }).notice?.state, "stdio"],
  ignored: (key) => {
    const read = [true, "x", 5, [], {}].map((value) => parse({ url: URL_A, [key]: value }));
    return [
      read.map(({ server, notice }) => [server?.target.endpoint.href, notice]),
      read.map(() => [URL_A, undefined]),
    ];
  },
};

describe("the key", () => {
  test.for(Object.entries(SPELLINGS))("%s: %s", ([key, meaning], { expect }) => {
    const [found, expected] = MEANINGS[meaning](key);
    expect(found).toEqual(expected);
    // Some clients leave a key out with null.
    expect(parse({ url: URL_A, [key]: null }).notice).toBeUndefined();
  });

  test("tools, as a list, allows these", ({ expect }) => {
    expect(allowed(["a"])).toEqual(["a"]);
    expect(allowed(["*"])).toEqual(["*"]);
    expect(allowed([])).toEqual([]);
  });

  test("that nobody knows is named and ignored where it can have forbidden nothing", ({
    expect,
  }) => {
    const { server, notice } = parse({ url: URL_A, colour: "red", weight: 5 });
    expect(server?.target.endpoint.href).toBe(URL_A);
    expect(notice).toEqual({
      ...{ name: "a", slug: "a", state: "partly-read" },
      sentences: ['MCP_SERVERS.a: nobody knows "colour", "weight", so nothing comes of it.'],
    });
  });

  test.for([
    { tool: { deny: ["*"] } },
    { tools: { denied: ["*"] } },
    { readOnly: true },
    { roots: ["/tmp"] },
    { rules: {} },
    { access: "read" },
    { visibility: "team" },
    { Url: URL_A },
    { trasport: "sse" },
    { colour: true },
    { colour: ["red"] },
    { colour: {} },
  ])("that nobody knows keeps its server off where it may be a rule: %j", (unknown, { expect }) => {
    const { server, notice } = parse({ url: URL_A, ...unknown });
    expect(server).toBeUndefined();
    expect(notice?.state).toBe("misconfigured");
    expect(notice?.sentences).toHaveLength(1);
    expect(notice?.sentences[0]).toContain("keys that this version does not know");
  });

  test("disabled wins over every mistake, and over enabled", ({ expect }) => {
    expect(parse({ url: "nonsense", disabled: true }).notice?.state).toBe("off");
    expect(parse({ url: URL_A, enabled: true, disabled: true }).notice?.state).toBe("off");
    expect(parse({ command: "npx", enabled: false }).notice?.state).toBe("off");
  });
});

describe("what forbids is kept, in whatever order the keys stand:", () => {
  test.for([
    { disabledTools: ["a"], excludeTools: ["b"], tools: { deny: ["c"], rename: { d: "e" } } },
    { disabledTools: ["a"], excludeTools: ["b", "c"], tools: { rename: { d: "e" } } },
  ])("lists of tools are one list, %j", (lists, { expect }) => {
    const entry = { url: URL_A, includeTools: ["d"], ...lists };
    fc.assert(
      fc.property(shuffled(entry), (drawn) => {
        const { tools } = parse(drawn).server ?? {};
        const denied = tools?.deny.map(({ pattern }) => pattern) ?? [];
        expect(denied.toSorted((one, other) => (one < other ? -1 : 1))).toEqual(["a", "b", "c"]);
        expect(tools?.allow?.map(({ pattern }) => pattern)).toEqual(["d"]);
        expect(tools?.rename.size).toBe(1);
      }),
    );
  });

  test.for([
    { tools: "none" },
    { tools: null },
    { tools: { deny: "c" } },
    { tools: { deny: null } },
    { tools: { denied: ["c"] } },
    { headers: 5, http_headers: { A: "1" } },
    { headers: { A: 5 }, http_headers: { B: "1" } },
  ])("a list that cannot be read keeps the server off, %j", (bad, { expect }) => {
    const entry = { url: URL_A, disabledTools: ["a"], disabled_tools: [], ...bad };
    fc.assert(
      fc.property(shuffled(entry), (drawn) => {
        expect(parse(drawn).notice?.state).toBe("misconfigured");
      }),
    );
  });
});

describe("a transport", () => {
  test.for([
    ["http", "http"],
    ["HTTP", "http"],
    ["streamable-http", "http"],
    ["streamableHttp", "http"],
    ["streamable_http", "http"],
    ["remote", "http"],
    ["sse", "sse"],
    ["SSE", "sse"],
    ["stdio", "stdio"],
    ["local", "stdio"],
    ["ws", undefined],
    ["constructor", undefined],
    [5, undefined],
  ] as const)("called %s is %s", ([spelled, transport], { expect }) => {
    expect(transportOf(spelled)).toBe(transport);
  });

  test("is taken from type and transport alike, and says of a program what it is", ({ expect }) => {
    for (const key of ["type", "transport"]) {
      expect(parse({ url: URL_A, [key]: "streamable_http" }).server?.target.transport).toBe("auto");
      expect(parse({ url: URL_A, [key]: "Sse" }).server?.target.transport).toBe("sse");
      expect(parse({ [key]: "stdio" }).notice?.state).toBe("stdio");
      // With a URL beside it, something else is meant.
      expect(parse({ url: URL_A, [key]: "stdio" }).notice?.state).toBe("misconfigured");
    }
    expect(parse({ url: URL_A, transport: "streamable-http" }).server?.target.transport).toBe(
      "streamable-http",
    );
  });
});
