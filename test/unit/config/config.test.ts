/** Env -> Config: every key, and one plain sentence for every mistake. */

import { describe, test } from "vitest";

import { loadConfig, parseConfig } from "../../../src/config/config.ts";
import { mistakesOf } from "./said.ts";
import { defaultLimits, LIMITS } from "../../../src/policy/limits.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { failureOf } from "../upstream/fake-target.ts";

const NONE = { AUTH_MODE: "none" };
const URL_A = "https://a.example.com/mcp";
const KEY_A = "A".repeat(43);
const KEY_B = `${"-_8".repeat(14)}A`;

function parse(env: Record<string, unknown>): ReturnType<typeof parseConfig> {
  return parseConfig({ ...NONE, ...env });
}

/** @throws Error when the configuration is refused: the test meant it to be good. */
function serversOf(env: Record<string, unknown>): Record<string, UpstreamTarget> {
  const parsed = parse(env);
  const mistakes = mistakesOf(parsed);
  if (!parsed.ok || mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return Object.fromEntries([...parsed.config.servers].map(([slug, { target }]) => [slug, target]));
}

function problemsOf(env: Record<string, unknown>): readonly string[] {
  const parsed = parse(env);
  return mistakesOf(parsed);
}

test("nothing is needed", ({ expect }) => {
  for (const unset of [undefined, ""]) {
    expect(
      parseConfig({
        AUTH_MODE: unset,
        IDENTITY: unset,
        AUTH_SECRET: unset,
        MCP_SERVERS: unset,
        LIMITS: unset,
        PUBLIC_ORIGIN: unset,
        ALLOWED_ORIGINS: unset,
        SESSION_KEYS: unset,
      }),
    ).toEqual({
      ok: true,
      config: {
        authMode: "oauth",
        identity: [{ provider: "owner", name: "owner", label: "Continue as the owner" }],
        publicOrigin: undefined,
        allowedOrigins: new Set(),
        servers: new Map(),
        notices: [],
        prefixes: new Map(),
        limits: defaultLimits(),
        sessionKeys: undefined,
        authSecret: undefined,
        vaultSecrets: [],
        launcherKey: undefined,
        activity: "all",
        isPublishingOn: false,
        reportsCosts: false,
      },
    });
  }
});

describe("of the whole", () => {
  const good: { name: string; env: Record<string, unknown>; config: object }[] = [
    {
      name: "PUBLIC_ORIGIN",
      env: { PUBLIC_ORIGIN: "https://m.example.com" },
      config: { publicOrigin: "https://m.example.com" },
    },
    {
      name: "PUBLIC_ORIGIN with a slash and in capitals",
      env: { PUBLIC_ORIGIN: "HTTPS://M.example.com:443/" },
      config: { publicOrigin: "https://m.example.com" },
    },
    { name: "ACTIVITY", env: { ACTIVITY: "own" }, config: { activity: "own" } },
    { name: "ACTIVITY off", env: { ACTIVITY: "off" }, config: { activity: "off" } },
    {
      name: "ALLOWED_ORIGINS",
      env: { ALLOWED_ORIGINS: ["https://b.example", "http://c.example:8080/"] },
      config: { allowedOrigins: new Set(["https://b.example", "http://c.example:8080"]) },
    },
    {
      name: "ALLOWED_ORIGINS as JSON",
      env: { ALLOWED_ORIGINS: '["https://b.example"]' },
      config: { allowedOrigins: new Set(["https://b.example"]) },
    },
    {
      name: "LIMITS",
      env: { LIMITS: { maxJsonDepth: 8 } },
      config: { limits: { ...defaultLimits(), maxJsonDepth: 8 } },
    },
    {
      name: "LIMITS as JSON",
      env: { LIMITS: '{"maxJsonDepth":1000}' },
      config: { limits: { ...defaultLimits(), maxJsonDepth: 1000 } },
    },
    { name: "SESSION_KEYS, one", env: { SESSION_KEYS: KEY_A }, config: { sessionKeys: [KEY_A] } },
    {
      name: "SESSION_KEYS, newest first, as a shell or an editor may leave them",
      env: { SESSION_KEYS: `${KEY_B},\n ${KEY_A}\n` },
      config: { sessionKeys: [KEY_B, KEY_A] },
    },
  ];
  test.for(good)("$name is taken", ({ env, config }, { expect }) => {
    const parsed = parse(env);
    expect(parsed).toMatchObject({ ok: true, config });
  });

  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  test.for(names)("the limit %s is taken up to its bounds, and not beyond", (name, { expect }) => {
    const { min, max } = LIMITS[name];
    for (const value of [min, max]) {
      expect(parse({ LIMITS: { [name]: value } })).toMatchObject({
        config: { limits: { [name]: value } },
      });
    }
    for (const value of [min - 1, max + 1, Number.NaN, String(min), null, [min]]) {
      expect(problemsOf({ LIMITS: { [name]: value } })).toEqual([
        `LIMITS.${name} must be a number from ${min} to ${max}.`,
      ]);
    }
  });
});

describe("of a server", () => {
  const good: { name: string; entry: Record<string, unknown>; target: object }[] = [
    {
      name: "its URL, with the defaults",
      entry: { url: URL_A },
      target: {
        slug: "a",
        endpoint: { href: URL_A },
        headers: {},
        transport: "auto",
        era: "auto",
        timeoutMs: 300_000,
      },
    },
    {
      name: "transport",
      entry: { url: URL_A, transport: "streamable-http" },
      target: { transport: "streamable-http" },
    },
    {
      name: "transport sse",
      entry: { url: URL_A, transport: "sse" },
      target: { transport: "sse" },
    },
    { name: "era", entry: { url: URL_A, era: "legacy" }, target: { era: "legacy" } },
    { name: "auth", entry: { url: URL_A, auth: "headers" }, target: { slug: "a" } },
    {
      name: "timeoutSeconds",
      entry: { url: URL_A, timeoutSeconds: 1.5 },
      target: { timeoutMs: 1500 },
    },
    ...["http", "streamable-http", "streamableHttp"].map((type) => ({
      name: `type ${type}, as clients write it`,
      entry: { url: URL_A, type },
      target: { transport: "auto" },
    })),
    {
      name: "type sse, as clients write it",
      entry: { url: URL_A, type: "sse" },
      target: { transport: "sse" },
    },
    { name: "a service", entry: { service: "BOUND" }, target: { endpoint: { pathname: "/mcp" } } },
    {
      name: "a service of HTTP+SSE",
      entry: { service: "BOUND", type: "sse" },
      target: { endpoint: { pathname: "/sse" } },
    },
    {
      name: "a service and a URL",
      entry: { service: "BOUND", url: URL_A },
      target: { endpoint: { href: URL_A } },
    },
    {
      name: "headers with secrets in them",
      entry: {
        url: URL_A,
        headers: {
          Authorization: "Bearer ${KEY_1}",
          "X-Two": "${KEY_1}-${KEY_2}",
          "X-Plain": "$KEY_1 {KEY_1}",
        },
      },
      target: {
        headers: { Authorization: "Bearer s1", "X-Two": "s1-s$&2", "X-Plain": "$KEY_1 {KEY_1}" },
      },
    },
  ];
  const env = {
    KEY_1: "s1",
    KEY_2: "s$&2",
    BOUND: { fetch: () => Promise.resolve(new Response()) },
  };

  test.for(good)("$name", ({ entry, target }, { expect }) => {
    const { a } = serversOf({ ...env, MCP_SERVERS: { a: entry } });
    for (const [member, value] of Object.entries(target)) {
      const found = a?.[member as keyof UpstreamTarget];
      if (member === "endpoint") expect(found).toMatchObject(value as object);
      else expect(found, member).toEqual(value);
    }
    // A JSON string, as `--var` gives it, is the same thing as the table.
    const { a: fromJson } = serversOf({ ...env, MCP_SERVERS: JSON.stringify({ a: entry }) });
    expect({ ...fromJson, fetch: null }).toEqual({ ...a, fetch: null });
  });

  test("the message limit is the gateway's", ({ expect }) => {
    const servers = serversOf({
      MCP_SERVERS: { a: { url: URL_A } },
      LIMITS: { maxMessageBytes: 70_000 },
    });
    expect(servers["a"]?.maxMessageChars).toBe(70_000);
  });

  test("a service is fetched through its binding", async ({ expect }) => {
    const asked: string[] = [];
    const binding = {
      fetch(url: URL): Promise<Response> {
        asked.push(url.href);
        return Promise.resolve(new Response(null, { status: 299 }));
      },
    };
    const { a } = serversOf({ MCP_SERVERS: { a: { service: "B", url: URL_A } }, B: binding });
    expect((await a?.fetch(new URL(URL_A), {}))?.status).toBe(299);
    expect(asked).toEqual([URL_A]);
  });

  test("the map of other clients pastes in unchanged, in its order", ({ expect }) => {
    const mcpServers = {
      zeta: { type: "http", url: "https://z.example/mcp", headers: { "X-Key": "k" } },
      "alpha-2": { type: "sse", url: "https://alpha.example/sse" },
      plain: { url: "http://localhost:3000/mcp" },
    };
    expect(Object.keys(serversOf({ MCP_SERVERS: mcpServers }))).toEqual([
      "zeta",
      "alpha-2",
      "plain",
    ]);
  });

  test("the demo is there when nothing else is, and only where it is bound", ({ expect }) => {
    const DEMO = { fetch: () => Promise.resolve(new Response()) };
    expect(Object.keys(serversOf({ DEMO }))).toEqual(["demo"]);
    expect(Object.keys(serversOf({ DEMO, MCP_SERVERS: "{}" }))).toEqual(["demo"]);
    expect(Object.keys(serversOf({ DEMO, MCP_SERVERS: { a: { url: URL_A } } }))).toEqual(["a"]);
    expect(Object.keys(serversOf({}))).toEqual([]);
  });
});

test("loadConfig() parses an env once", ({ expect }) => {
  const env = { ...NONE } as unknown as Env;
  expect(loadConfig(env)).toBe(loadConfig(env));
  expect(loadConfig({ ...NONE, LIMITS: "[]" } as unknown as Env).ok).toBe(false);
});

test("a target without a binding goes to the network, and nowhere in this test", async ({
  expect,
}) => {
  const { a } = serversOf({ MCP_SERVERS: { a: { url: "http://127.0.0.1:1/mcp" } } });
  // Aborted before it starts: no request leaves.
  const signal = AbortSignal.abort(new Error("stopped"));
  expect(
    await failureOf(a?.fetch(new URL("http://127.0.0.1:1/"), { signal }) ?? Promise.resolve()),
  ).toEqual(new Error("stopped"));
});
