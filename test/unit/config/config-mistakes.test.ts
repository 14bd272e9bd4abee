/**
 * A mistake in the configuration is one plain sentence that names its key and reveals no secret.
 */

import { describe, test } from "vitest";

import { parseConfig } from "../../../src/config/config.ts";
import { mistakesOf } from "./said.ts";

const URL_A = "https://a.example.com/mcp";
const SECRET = "hunter2-SECRET";
const SESSION_KEY = `${"_".repeat(42)}A`;

function problemsOf(env: Record<string, unknown>): readonly string[] {
  const parsed = parseConfig({
    AUTH_MODE: "none",
    KEY: SECRET,
    BAD_KEY: `${SECRET}\r\nX: y`,
    ...env,
  });
  return mistakesOf(parsed);
}

const server = (entry: unknown): Record<string, unknown> => ({ MCP_SERVERS: { a: entry } });

interface Mistake {
  readonly name: string;
  readonly env: Record<string, unknown>;
  readonly key: string;
  /**
   * The text that the sentence must contain beside the key: the value found, or the values allowed.
   */
  readonly part: string;
}

const mistakes: readonly Mistake[] = [
  { name: "AUTH_MODE basic", env: { AUTH_MODE: "basic" }, key: "AUTH_MODE", part: '"oauth"' },
  { name: "ACTIVITY none", env: { ACTIVITY: "none" }, key: "ACTIVITY", part: '"off"' },
  { name: "ACTIVITY in capitals", env: { ACTIVITY: "OWN" }, key: "ACTIVITY", part: '"OWN"' },
  {
    name: "AUTH_SECRET short",
    env: { AUTH_SECRET: "A".repeat(42) },
    key: "AUTH_SECRET",
    part: "32",
  },
  {
    name: "AUTH_SECRET padded",
    env: { AUTH_SECRET: `${"A".repeat(43)}=` },
    key: "AUTH_SECRET",
    part: "base64url",
  },
  {
    name: "PUBLIC_ORIGIN in the clear",
    env: { PUBLIC_ORIGIN: "http://m.example.com" },
    key: "PUBLIC_ORIGIN",
    part: "https://",
  },
  { name: "PUBLISHING yes", env: { PUBLISHING: "yes" }, key: "PUBLISHING", part: '"off"' },
  { name: "AUTH_MODE in capitals", env: { AUTH_MODE: "NONE" }, key: "AUTH_MODE", part: '"NONE"' },
  ...[
    "m.example.com",
    "https://m.example.com/path",
    "https://m.example.com/?q",
    "https://m.example.com/#f",
    `https://u:${SECRET}@m.example.com`,
    "ftp://m.example.com",
    "file:///",
    "null",
    5,
    null,
    ["https://m.example.com"],
  ].map((value) => ({
    name: `PUBLIC_ORIGIN ${JSON.stringify(value)}`,
    env: { PUBLIC_ORIGIN: value },
    key: "PUBLIC_ORIGIN",
    part: "https://mcp.example.com",
  })),
  {
    name: "ALLOWED_ORIGINS a word",
    env: { ALLOWED_ORIGINS: "https://b.example" },
    key: "ALLOWED_ORIGINS",
    part: "list",
  },
  {
    name: "ALLOWED_ORIGINS a table",
    env: { ALLOWED_ORIGINS: { a: 1 } },
    key: "ALLOWED_ORIGINS",
    part: "list",
  },
  {
    name: "ALLOWED_ORIGINS with a path in it",
    env: { ALLOWED_ORIGINS: ["https://b.example", "https://b.example/x"] },
    key: "ALLOWED_ORIGINS[1]",
    part: "origin",
  },
  {
    name: "ALLOWED_ORIGINS with *",
    env: { ALLOWED_ORIGINS: ["*"] },
    key: "ALLOWED_ORIGINS[0]",
    part: "origin",
  },
  { name: "LIMITS no JSON", env: { LIMITS: "maxJsonDepth=8" }, key: "LIMITS", part: "JSON" },
  { name: "LIMITS a list", env: { LIMITS: [1] }, key: "LIMITS", part: "table" },
  { name: "LIMITS a number", env: { LIMITS: 5 }, key: "LIMITS", part: "table" },
  { name: "LIMITS JSON null", env: { LIMITS: "null" }, key: "LIMITS", part: "table" },
  {
    name: "LIMITS of an unknown name",
    env: { LIMITS: { maxTools: 5 } },
    key: "LIMITS.maxTools",
    part: "maxJsonDepth",
  },
  {
    name: "LIMITS of a name by birth",
    env: { LIMITS: { constructor: 5 } },
    key: "LIMITS.constructor",
    part: "unknown",
  },
  ...[
    SECRET,
    `${SESSION_KEY},${SECRET}`,
    `${SESSION_KEY},`,
    `,${SESSION_KEY}`,
    `${SESSION_KEY};${SESSION_KEY}`,
    `${SESSION_KEY}=`,
    SESSION_KEY.slice(1),
    `A${SESSION_KEY}`,
    SESSION_KEY.replace("_", "/"),
    // The last character has bits that no byte takes.
    `${SESSION_KEY.slice(0, -1)}B`,
    " ",
    5,
    [SESSION_KEY],
  ].map((value) => ({
    name: `SESSION_KEYS ${JSON.stringify(value)}`,
    env: { SESSION_KEYS: value },
    key: "SESSION_KEYS",
    part: "32 bytes in base64url",
  })),
  {
    name: "MCP_SERVERS no JSON",
    env: { MCP_SERVERS: `{a: ${SECRET}}` },
    key: "MCP_SERVERS",
    part: "JSON",
  },
  { name: "MCP_SERVERS a list", env: { MCP_SERVERS: "[]" }, key: "MCP_SERVERS", part: "table" },
  {
    name: "MCP_SERVERS JSON null",
    env: { MCP_SERVERS: "null" },
    key: "MCP_SERVERS",
    part: "table",
  },
  { name: "MCP_SERVERS a number", env: { MCP_SERVERS: 5 }, key: "MCP_SERVERS", part: "table" },
  ...["", "日本", "?!", "__"].map((slug) => ({
    name: `the name ${JSON.stringify(slug)}`,
    env: { MCP_SERVERS: { [slug]: { url: URL_A } } },
    key: `MCP_SERVERS.${slug}`,
    part: "a-z",
  })),
  { name: "a server that is a string", env: server(URL_A), key: "MCP_SERVERS.a", part: "table" },
  { name: "a server that is null", env: server(null), key: "MCP_SERVERS.a", part: "table" },
  { name: "a server without a way to it", env: server({}), key: "MCP_SERVERS.a", part: '"url"' },
  {
    name: "a URL that is a number",
    env: server({ url: 5 }),
    key: "MCP_SERVERS.a.url",
    part: "string",
  },
  {
    name: "a URL that is relative",
    env: server({ url: "/mcp" }),
    key: "MCP_SERVERS.a.url",
    part: "http",
  },
  {
    name: "a URL of another scheme",
    env: server({ url: "ftp://a.example" }),
    key: "MCP_SERVERS.a.url",
    part: "http",
  },
  {
    name: "a URL with a password",
    env: server({ url: `https://u:${SECRET}@a.example/` }),
    key: "MCP_SERVERS.a.url",
    part: "headers",
  },
  {
    name: "a URL with a user",
    env: server({ url: `https://${SECRET}@a.example/` }),
    key: "MCP_SERVERS.a.url",
    part: "headers",
  },
  {
    name: "a service that is not bound",
    env: server({ service: "NOPE" }),
    key: "MCP_SERVERS.a.service",
    part: "NOPE",
  },
  {
    name: "a service that is a number",
    env: server({ service: 5 }),
    key: "MCP_SERVERS.a.service",
    part: "string",
  },
  {
    name: "a service that is a secret",
    env: server({ service: "KEY" }),
    key: "MCP_SERVERS.a.service",
    part: "KEY",
  },
  {
    name: "an unknown transport",
    env: server({ url: URL_A, transport: "stdio" }),
    key: "MCP_SERVERS.a.transport",
    part: '"streamable-http"',
  },
  {
    name: "an unknown type",
    env: server({ url: URL_A, type: "stdio" }),
    key: "MCP_SERVERS.a.type",
    part: '"sse"',
  },
  {
    name: "an unknown era",
    env: server({ url: URL_A, era: "new" }),
    key: "MCP_SERVERS.a.era",
    part: '"modern"',
  },
  {
    name: "an unknown auth",
    env: server({ url: URL_A, auth: "basic" }),
    key: "MCP_SERVERS.a.auth",
    part: '"headers"',
  },
  ...[0, -1, 86_401, "60", null].map((timeoutSeconds) => ({
    name: `timeoutSeconds ${JSON.stringify(timeoutSeconds)}`,
    env: server({ url: URL_A, timeoutSeconds }),
    key: "MCP_SERVERS.a.timeoutSeconds",
    part: "must be",
  })),
  {
    name: "a program and a URL",
    env: server({ url: URL_A, command: "npx", args: [SECRET] }),
    key: "MCP_SERVERS.a",
    part: 'both "command" and "url"',
  },
  {
    name: "a program",
    env: server({ command: "npx", args: [SECRET], env: { KEY: SECRET } }),
    key: "MCP_SERVERS.a",
    part: "needs a machine: publish it",
  },
  {
    name: "a program that only leads to a URL with a secret in it",
    env: server({ command: "npx", args: ["mcp-remote", `https://a.example/mcp?key=${SECRET}`] }),
    key: "MCP_SERVERS.a",
    part: "needs a machine: publish it",
  },
  {
    name: "an unknown key",
    env: server({ url: URL_A, tool: { deny: ["*"] } }),
    key: "MCP_SERVERS.a",
    part: 'tool (did you mean "tools"?)',
  },
  {
    name: "an unknown key in a table",
    env: server({ url: URL_A, tools: { denied: ["*"] } }),
    key: "MCP_SERVERS.a.tools",
    part: 'denied (did you mean "deny"?)',
  },
  ...["disabled", "enabled"].map((name) => ({
    name: `"${name}" that is a word`,
    env: server({ url: URL_A, [name]: "true" }),
    key: `MCP_SERVERS.a.${name}`,
    part: "true or false",
  })),
  ...["disabledTools", "includeTools", "enabled_tools"].map((name) => ({
    name: `"${name}" that is no list of names`,
    env: server({ url: URL_A, [name]: [5] }),
    key: `MCP_SERVERS.a.${name}`,
    part: "list of names",
  })),
  {
    name: "two lists of allowed tools",
    env: server({ url: URL_A, includeTools: ["a"], tools: { allow: ["b"] } }),
    key: "MCP_SERVERS.a",
    part: "allowed twice",
  },
  {
    name: "two URLs",
    env: server({ url: URL_A, serverUrl: `https://${SECRET}.example/` }),
    key: "MCP_SERVERS.a",
    part: '"url" twice',
  },
  {
    name: "two headers of one name",
    env: server({ url: URL_A, headers: { "x-key": "1" }, http_headers: { "X-Key": SECRET } }),
    key: "MCP_SERVERS.a.headers",
    part: '"X-Key" is there twice',
  },
  {
    name: "a URL with a placeholder",
    env: server({ url: `https://\${HOST:-${SECRET}}/mcp` }),
    key: "MCP_SERVERS.a.url",
    part: "placeholder",
  },
  {
    name: "a URL with a placeholder of opencode",
    env: server({ url: "https://{env:HOST}/mcp" }),
    key: "MCP_SERVERS.a.url",
    part: "placeholder",
  },
  ...["MCP_SERVER", "mcpServers", "MCP_servers", "mcp-server"].map((name) => ({
    name: `${name} instead of MCP_SERVERS`,
    env: { [name]: { a: { url: URL_A } } },
    key: name,
    part: "MCP_SERVERS",
  })),
  ...[
    "${input:api-key}",
    "${env:NOPE}",
    "{env:NOPE}",
    "${command:key}",
    `\${${SECRET}:}`,
    `\${A:-\${${SECRET}}}`,
  ].map((placeholder) => ({
    name: `the placeholder ${placeholder}`,
    env: server({ url: URL_A, headers: { "X-Key": placeholder } }),
    key: "MCP_SERVERS.a.headers.X-Key",
    part: placeholder.includes(SECRET)
      ? '"${…}" is something that only a client'
      : placeholder.includes("command")
        ? '"${command…}" is something that only a client'
        : "is not set",
  })),
  {
    name: "a server beside the wrapper",
    env: { MCP_SERVERS: { mcpServers: {}, a: { url: URL_A } } },
    key: "MCP_SERVERS.a",
    part: 'beside "mcpServers"',
  },
  {
    name: "headers that are a list",
    env: server({ url: URL_A, headers: [SECRET] }),
    key: "MCP_SERVERS.a.headers",
    part: "table of strings",
  },
  {
    name: "a header that is a number",
    env: server({ url: URL_A, headers: { "X-Key": 5 } }),
    key: "MCP_SERVERS.a.headers.X-Key",
    part: "string",
  },
  {
    name: "a secret that is not set",
    env: server({ url: URL_A, headers: { "X-Key": "${NOPE}" } }),
    key: "MCP_SERVERS.a.headers.X-Key",
    part: '"NOPE"',
  },
  {
    name: "a secret that is no string",
    env: { ...server({ url: URL_A, headers: { "X-Key": "${OBJ}" } }), OBJ: {} },
    key: "MCP_SERVERS.a.headers.X-Key",
    part: '"OBJ"',
  },
  {
    name: "a header name with a space",
    env: server({ url: URL_A, headers: { "X Key": "${KEY}" } }),
    key: "MCP_SERVERS.a.headers.X Key",
    part: "HTTP header",
  },
  {
    name: "a secret with a line break",
    env: server({ url: URL_A, headers: { "X-Key": "${BAD_KEY}" } }),
    key: "MCP_SERVERS.a.headers.X-Key",
    part: "HTTP header",
  },
];

describe("one sentence for", () => {
  test.for(mistakes)("$name", ({ env, key, part }, { expect }) => {
    const problems = problemsOf(env);
    expect(problems).toHaveLength(1);
    const [sentence = ""] = problems;
    expect(sentence.startsWith(key), sentence).toBe(true);
    expect(sentence).toContain(part);
    expect(sentence).toMatch(/^[^\n]+\.$/);
    expect(sentence).not.toContain(SECRET);
    expect(sentence).not.toContain(SESSION_KEY.slice(1, -1));
  });
});

const MANY = {
  AUTH_MODE: "basic",
  PUBLIC_ORIGIN: "x",
  ALLOWED_ORIGINS: ["x", "y"],
  LIMITS: { a: 1, maxJsonDepth: 1 },
};
const ENTRIES = { A: {}, b: { url: 5, era: 5 }, c: {} };
const keysOf = (sentences: readonly string[]): unknown[] =>
  sentences.map((sentence) => sentence.split(/[ :]/, 1)[0]);

test("all mistakes are reported at once", ({ expect }) => {
  expect(keysOf(problemsOf({ ...MANY, MCP_SERVERS: ENTRIES }))).toEqual([
    "LIMITS.a",
    "LIMITS.maxJsonDepth",
    "AUTH_MODE",
    "PUBLIC_ORIGIN",
    "ALLOWED_ORIGINS[0]",
    "ALLOWED_ORIGINS[1]",
  ]);
  expect(keysOf(problemsOf({ MCP_SERVERS: ENTRIES }))).toEqual([
    "MCP_SERVERS.a",
    "MCP_SERVERS.b.url",
    "MCP_SERVERS.b.era",
    "MCP_SERVERS.c",
  ]);
});
