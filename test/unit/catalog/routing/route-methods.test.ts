/** The route of each method, at a merged endpoint and at that of an only server. */

import { describe, test } from "vitest";

import { OPEN_POLICY } from "../../../../src/policy/item-policy.ts";
import { policy, routeScene, short } from "./route-fixture.ts";

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

describe("the only server of an endpoint, some of whose items are forbidden,", () => {
  const RULES = [
    { name: "a denied resource", rules: { resources: policy(undefined, ["x:secret*"]) } },
    { name: "a denied tool", rules: { tools: policy(undefined, ["secret"]) } },
    { name: "allowed prompts", rules: { prompts: policy(["open"]) } },
    {
      name: "a tool that is denied at run time",
      rules: { tools: { ...OPEN_POLICY, denied: new Set(["secret"]) } },
    },
  ];

  describe.for(RULES)("by $name,", ({ rules }) => {
    const scene = routeScene([{ slug: "a", has: "never", ...rules }]);

    test.for(["resources/directory/read", "x/y", "tools/call/x", "constructor", "", "__proto__"])(
      "does not get %s, which the gateway does not know",
      async (method, { expect }) => {
        expect(await scene.route(method, { uri: "x:secret" })).toEqual({
          kind: "reply",
          reply: { error: { code: -32601, message: "Method not found" } },
        });
      },
    );

    test.for([
      ...["ping", "logging/setLevel", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel"],
      ...["notifications/roots/list_changed", "notifications/x"],
    ])("gets %s, which names no item", async (method, { expect }) => {
      const routed = await scene.route(method, { level: "info" });
      expect(short(routed)).toEqual(["a", undefined]);
    });
  });

  test("gets a method that the gateway does not know if every item is allowed", async ({
    expect,
  }) => {
    const rules = { tools: policy(["*"]), prompts: policy(["*"]), resources: policy(["*"]) };
    const scene = routeScene([{ slug: "a", has: "never", ...rules }]);
    expect(short(await scene.route("x/y"))).toEqual(["a", undefined]);
  });
});
