/** Listing and calling follow the same policy, whatever the server has. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import { namingOf } from "../../../../src/catalog/names/naming.ts";
import { filterPage } from "../../../../src/catalog/lists/list-server.ts";
import { isOpen } from "../../../../src/policy/item-policy.ts";
import { policy, routeScene } from "./route-fixture.ts";

const NAMES = ["a", "b", "ab", "ba", "aab", "A", "a.b", "a_b"];
const globs = fc.array(fc.constantFrom("a", "ab", "a*", "*b", "?", "*", "*_*"), { maxLength: 3 });
const setting = fc.record({
  allow: fc.option(globs, { nil: undefined }),
  deny: globs,
  listed: fc.subarray(NAMES),
});

/** What a client is to call a tool, and what it gets that its list has. */
function namesAt(endpoint: Endpoint, listed: readonly string[]): ReadonlyMap<string, string> {
  return namingOf(endpoint, 45).publicNames(endpoint.servers[0], "tools", listed);
}

describe("under any policy", () => {
  test("a tool can be called if it is listed, or need not be", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(setting, async ({ allow, deny, listed }) => {
        const tools = policy(allow, deny);
        const scene = routeScene([{ slug: "s", has: { tools: listed }, tools }]);
        const page = { tools: listed.map((name) => ({ name })) };
        const shown = new Set(
          (filterPage(scene.place, "tools", page)["tools"] as typeof page.tools).map(
            ({ name }) => name,
          ),
        );
        for (const name of NAMES) {
          const isNamed =
            allow?.some((glob) => glob === name) === true &&
            !tools.deny.some((g) => g.matches(name));
          const routed = await scene.route("tools/call", { name });
          const isCallable = routed.kind === "server";
          expect([name, isCallable]).toEqual([name, shown.has(name) || isNamed || isOpen(tools)]);
          if (isCallable) continue;
          expect(routed).toEqual({
            kind: "reply",
            reply: { error: { code: -32602, message: `Unknown tool: ${name}` } },
          });
        }
      }),
    );
  });

  test("a public name leads to its item or nowhere", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(setting, async ({ allow, deny, listed }) => {
        const tools = policy(allow, deny);
        const scene = routeScene([{ slug: "s", has: { tools: listed }, tools }, { slug: "t" }]);
        for (const [name, publicName] of namesAt(scene.place.endpoint, listed)) {
          const routed = await scene.route("tools/call", { name: publicName });
          const isAllowed =
            (allow === undefined || tools.allow?.some((glob) => glob.matches(name)) === true) &&
            !tools.deny.some((glob) => glob.matches(name));
          expect([name, routed.kind]).toEqual([name, isAllowed ? "server" : "reply"]);
          if (routed.kind === "server") {
            expect([routed.server.slug, routed.call.params]).toEqual(["s", { name }]);
          }
        }
      }),
    );
  });
});
