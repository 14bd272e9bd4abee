/** The route of each method, at a merged endpoint and at that of an only server. */

import { describe, test } from "vitest";

import { routeScene, short } from "./route-fixture.ts";

const LISTS = [
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "templates"],
] as const;

describe("at a merged endpoint", () => {
  const scene = routeScene([{ slug: "a", has: "never" }, { slug: "b" }]);

  test.for(LISTS)("%s is a list", async ([method, list], { expect }) => {
    expect(await scene.route(method, { cursor: "c" })).toEqual({ kind: "list", list });
  });

  test.for([
    "logging/setLevel",
    "notifications/roots/list_changed",
    "notifications/cancelled",
    "notifications/x",
  ])("%s goes to all servers", async (method, { expect }) => {
    expect(await scene.route(method, {})).toEqual({ kind: "all" });
  });

  test.for(["ping", "tasks/get", "tools/call/x", "constructor", "", "__proto__"])(
    "%s is not found",
    async (method, { expect }) => {
      expect(await scene.route(method, { name: "a__x" })).toEqual({
        kind: "reply",
        reply: { error: { code: -32601, message: "Method not found" } },
      });
    },
  );

  test("no method requests a list", ({ expect }) => {
    expect(scene.asked).toEqual([]);
  });
});

describe("the only server of an endpoint", () => {
  const scene = routeScene([{ slug: "a", has: "never" }]);

  test.for(LISTS)("gives the pages of %s itself", async ([method, list], { expect }) => {
    expect(await scene.route(method)).toEqual({ kind: "list", list });
  });

  test.for(["logging/setLevel", "notifications/roots/list_changed", "ping", "tasks/get", "x/y"])(
    "gets %s unchanged",
    async (method, { expect }) => {
      const routed = await scene.route(method, { level: "info" });
      expect(short(routed)).toEqual(["a", undefined]);
      expect(routed).toHaveProperty("call", { method, params: { level: "info" } });
    },
  );
});
