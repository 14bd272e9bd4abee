/** What a mistyped name was meant to be. */

import { describe, test } from "vitest";

import { closest } from "../../../src/lib/closest.ts";

const KNOWN = ["url", "tools", "headers", "deny", "allow", "disabledTools", "timeoutSeconds"];

describe("closest()", () => {
  test.for([
    ["tool", "tools"],
    ["Tools", "tools"],
    ["denied", "deny"],
    ["denyList", "deny"],
    ["allowed", "allow"],
    ["ulr", undefined],
    ["uri", "url"],
    ["header", "headers"],
    ["disabled_tools", "disabledTools"],
    ["timeout_secs", "timeoutSeconds"],
    ["colour", undefined],
    ["", undefined],
    ["t", undefined],
    ["description", undefined],
  ] as const)("takes %s for %s", ([typed, meant], { expect }) => {
    expect(closest(typed, KNOWN)).toBe(meant);
  });

  test("takes the nearest, and of equals the first", ({ expect }) => {
    expect(closest("scope", ["scopes", "scope"])).toBe("scope");
    expect(closest("cat", ["bat", "car"])).toBe("bat");
  });
});
