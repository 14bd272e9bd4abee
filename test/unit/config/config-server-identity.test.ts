/** `identity` of a server: what it resolves to, and the sentence for each mistake. */

import { describe, test } from "vitest";

import type { IdentitySettings } from "../../../src/accounts/settings.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { mistakesOf } from "./said.ts";

const URL = "https://tools.example.com/mcp";
const BOUND = { TOOLS: { fetch: () => undefined } };

function configured(entry: object): IdentitySettings | undefined | readonly string[] {
  const parsed = parseConfig({
    ...BOUND,
    PUBLIC_ORIGIN: "https://mcp.example.com",
    MCP_SERVERS: { tools: entry },
  });
  const mistakes = mistakesOf(parsed);
  return parsed.ok && mistakes.length === 0
    ? parsed.config.servers.get("tools")?.identity
    : mistakes;
}

describe("identity", () => {
  test.for<[string, unknown, IdentitySettings | undefined]>([
    ["absent", undefined, undefined],
    ["false", false, undefined],
    ["true", true, { audience: URL, claims: [], header: "Edgeway-Assertion" }],
    [
      "a table",
      { audience: "tools", claims: ["email", "groups"], header: "X-Caller" },
      { audience: "tools", claims: ["email", "groups"], header: "X-Caller" },
    ],
  ])("%s", ([, identity, expected], { expect }) => {
    expect(configured({ url: URL, ...(identity === undefined ? {} : { identity }) })).toEqual(
      expected,
    );
  });

  test("a service binding names its audience", ({ expect }) => {
    expect(configured({ service: "TOOLS", identity: true })).toEqual([
      'MCP_SERVERS.tools.identity needs an "audience": a service binding without a "url" has no address to stand for it.',
    ]);
    expect(configured({ service: "TOOLS", identity: { audience: "tools" } })).toMatchObject({
      audience: "tools",
    });
  });

  test.for<[string, unknown, RegExp]>([
    ["a text", "yes", /^MCP_SERVERS\.tools\.identity: must be true, or a table of/],
    ["an unknown claim", { claims: ["phone"] }, /^MCP_SERVERS\.tools\.identity/],
    ["an unknown key", { aud: "x" }, /^MCP_SERVERS\.tools\.identity/],
    ["no header name", { header: "a b" }, /header: "a b" cannot carry an assertion\.$/],
    ["a header of MCP", { header: "Mcp-Session-Id" }, /"Mcp-Session-Id" cannot carry/],
  ])("a mistake: %s", ([, identity, expected], { expect }) => {
    expect(configured({ url: URL, identity })).toEqual([expect.stringMatching(expected)]);
  });

  test("a header has one value", ({ expect }) => {
    const entry = { url: URL, headers: { "edgeway-assertion": "x" }, identity: true };
    expect(configured(entry)).toEqual([
      `MCP_SERVERS.tools.identity.header: "Edgeway-Assertion" is also one of the server's "headers".`,
    ]);
  });
});
