/** The scopes of a token: wider scopes cover the narrower ones that are part of them. */

import { describe, test } from "vitest";

import { choose, covers } from "../../../src/auth/scopes.ts";

describe("a scope covers", () => {
  test.for([
    [["mcp"], "mcp", true],
    [["mcp"], "mcp:a", true],
    [["mcp:a"], "mcp:a", true],
    [["mcp:a"], "mcp", false],
    [["mcp:a"], "mcp:b", false],
    [["mcp:a"], "mcp:ab", false],
    [["mcp"], "admin", false],
    [["admin"], "mcp", false],
    [["admin"], "mcp:a", false],
    [["mcp"], "mcpx", false],
    [[], "mcp", false],
  ] as const)("%j, asked for %s: %s", ([granted, needed, expected], { expect }) => {
    expect(covers(granted, needed)).toBe(expected);
  });
});

describe("the scopes that are granted of those that are requested", () => {
  const offered = ["mcp", "mcp:a", "mcp:b"];

  test.for([
    [[], ["mcp"]],
    [["mcp"], ["mcp"]],
    [
      ["mcp:b", "mcp:a"],
      ["mcp:a", "mcp:b"],
    ],
    [["mcp:a", "admin", "root", "offline_access"], ["mcp:a"]],
    [["mcp:a", "mcp:a"], ["mcp:a"]],
  ])("%j: %j", ([requested, scopes], { expect }) => {
    expect(choose(requested as string[], offered)).toEqual({ kind: "granted", scopes });
  });

  test.for([[["admin"]], [["MCP"]], [["mcp:c", "openid"]], [[""]]])(
    "%j: nothing",
    ([requested], { expect }) => {
      expect(choose(requested as string[], offered)).toEqual({ kind: "none" });
    },
  );

  test("nothing where there is nothing", ({ expect }) => {
    expect(choose([], [])).toEqual({ kind: "none" });
    expect(choose(["mcp"], [])).toEqual({ kind: "none" });
  });
});
