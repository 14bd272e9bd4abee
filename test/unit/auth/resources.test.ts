/** The resources that a token can be for, and the spellings of them that real clients send. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  canonicalResource,
  resourceForScopes,
  wholeOf,
  resourcePath,
  protectedResources,
} from "../../../src/auth/resources.ts";

const O = "https://gw.example.com";

describe("the resources of a gateway", () => {
  test("are its endpoints, the default first, and the pages of its operator", ({ expect }) => {
    expect(protectedResources(O, ["a", "b-2"])).toEqual([
      { id: `${O}/mcp`, path: "/mcp", slug: undefined, scopes: ["mcp", "mcp:a", "mcp:b-2"] },
      { id: `${O}/mcp/a`, path: "/mcp/a", slug: "a", scopes: ["mcp:a", "mcp"] },
      { id: `${O}/mcp/b-2`, path: "/mcp/b-2", slug: "b-2", scopes: ["mcp:b-2", "mcp"] },
      { id: `${O}/admin`, path: "/admin", slug: undefined, scopes: ["admin"] },
    ]);
  });

  test.for([
    ["/mcp", "/mcp"],
    ["/sse", "/mcp"],
    ["/mcp/a", "/mcp/a"],
    ["/sse/a", "/mcp/a"],
    ["/admin", "/admin"],
    ["/", undefined],
    ["/mcp/", undefined],
    ["/mcp/a/b", undefined],
    ["/mcp/A", undefined],
    ["/mcpx", undefined],
    ["/x/mcp", undefined],
    ["/admin/", undefined],
    ["/token", undefined],
    [`/mcp/${"a".repeat(25)}`, undefined],
  ])("%s is an endpoint of %s", ([path, expected], { expect }) => {
    expect(resourcePath(path as string)).toBe(expected);
  });
});

describe("a spelling", () => {
  test.for([
    ["", "/mcp"],
    ["/", "/mcp"],
    ["/mcp", "/mcp"],
    ["/mcp/", "/mcp"],
    ["/sse", "/mcp"],
    ["/sse/", "/mcp"],
    ["/mcp/a", "/mcp/a"],
    ["/mcp/a/", "/mcp/a"],
    ["/sse/a", "/mcp/a"],
    ["/admin", "/admin"],
    ["/admin/", "/admin"],
  ])("%j is read as %s", ([given, path], { expect }) => {
    expect(canonicalResource(O, `${O}${given}`)).toBe(`${O}${path}`);
  });

  test("of scheme and host may be in any case, and may include the port", ({ expect }) => {
    expect(canonicalResource(O, "HTTPS://GW.Example.COM/mcp")).toBe(`${O}/mcp`);
    expect(canonicalResource(O, "https://gw.example.com:443")).toBe(`${O}/mcp`);
    expect(canonicalResource("http://localhost:8787", "http://localhost:8787/")).toBe(
      "http://localhost:8787/mcp",
    );
  });

  test.for([
    "https://evil.example/mcp",
    "http://gw.example.com/mcp",
    "https://gw.example.com:8443/mcp",
    "https://gw.example.com.evil.example/mcp",
    "https://gw.example.com@evil.example/mcp",
    "https://u:p@gw.example.com/mcp",
    "https://gw.example.com./mcp",
    `${O}/mcp?x=1`,
    `${O}/mcp#x`,
    `${O}/mcp//`,
    `${O}//mcp`,
    `${O}/x/../mcp`,
    `${O}/mcp/..`,
    `${O}/mcp/a/..`,
    `${O}/./mcp`,
    `${O}/%6dcp`,
    `${O}/mcp/%2e%2e`,
    `${O}\\mcp`,
    `${O}/mcp\\`,
    `${O}/mcp/A`,
    `${O}/token`,
    "/mcp",
    "mcp",
    "",
    "urn:x",
    "javascript:alert(1)",
  ])("%s is left as it is", (given, { expect }) => {
    expect(canonicalResource(O, given)).toBe(given);
  });

  test("of anything else is never read as one of ours", ({ expect }) => {
    const parts = fc.constantFrom(
      ...[O, "https:", "//", "/", "gw.example.com", "@", ":443", "\\", "?", "#", "%2f", "..", "."],
      ...["mcp", "sse", "a", "evil.example", "\t", "\n", " ", "admin"],
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (all) => {
        const given = all.join("");
        const read = canonicalResource(O, given);
        if (read === given) return;
        // It was another spelling: of this origin, and of a path that is there.
        expect(new URL(given).origin).toBe(O);
        expect(new URL(read).origin).toBe(O);
        expect(resourcePath(new URL(read).pathname)).toBe(new URL(read).pathname);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("a part of the gateway", () => {
  const several = protectedResources("https://gw.example.com", ["alpha", "beta"]);
  const one = protectedResources("https://gw.example.com", ["alpha"]);
  const whole = "https://gw.example.com/mcp";

  test("is in the whole, which is in nothing, as the operator's pages are not", ({ expect }) => {
    expect(wholeOf(several, `${whole}/alpha`)).toEqual({ id: whole, enough: ["mcp"] });
    expect(wholeOf(one, `${whole}/alpha`)).toEqual({
      id: whole,
      enough: ["mcp", "mcp:alpha", "mcp"],
    });
    const others = [whole, "https://gw.example.com/admin", `${whole}/gamma`];
    expect(others.map((id) => wholeOf(several, id))).toEqual([undefined, undefined, undefined]);
  });

  test.for([
    [[], "/mcp"],
    [["mcp"], "/mcp"],
    [["mcp:alpha"], "/mcp/alpha"],
    [["mcp:alpha", "unknown"], "/mcp/alpha"],
    [["mcp", "mcp:alpha"], "/mcp"],
    [["mcp:alpha", "mcp:beta"], "/mcp"],
    [["mcp:gamma"], "/mcp"],
    [["admin"], "/mcp"],
  ] as const)(
    "is the default without a resource, by the scopes %j: %s",
    ([scopes, path], { expect }) => {
      expect(resourceForScopes(several, scopes)?.path).toBe(path);
      expect(resourceForScopes(one, scopes)?.path).toBe("/mcp");
    },
  );
});
