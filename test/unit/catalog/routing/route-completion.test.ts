/** The server of a completion. */

import { describe, test } from "vitest";

import { MODERN } from "../cache/catalog-fixture.ts";
import { type Part, policy, routeScene, short } from "./route-fixture.ts";

const complete = "completion/complete";
const prompt = (name: unknown): { ref: unknown; argument: unknown } => ({
  ...{ ref: { type: "ref/prompt", name, title: "T" }, argument: { name: "a", value: "v" } },
});
const resource = (uri: unknown): { ref: unknown; argument: unknown } => ({
  ...{ ref: { type: "ref/resource", uri }, argument: { name: "a", value: "v" } },
});
const has = { prompts: ["ask"], resources: ["x:1"], templates: ["x:{n}", "y:{n}"] };
const completing = { completions: {}, prompts: {}, resources: {} };
const A: Part = { slug: "a", has, capabilities: completing };
const B: Part = { slug: "b", has: { templates: ["y:{n}", "z:{n}"] }, capabilities: {} };

describe("a completion", () => {
  test("of a prompt goes to its server, with the server's name", async ({ expect }) => {
    const scene = routeScene([A, B]);
    const routed = await scene.route(complete, { ...prompt("a__ask"), context: {} });
    expect(routed).toMatchObject({ kind: "server", server: { slug: "a" } });
    expect(routed).toHaveProperty("call.params", { ...prompt("ask"), context: {} });
  });

  test("of a template goes to the first server that lists it", async ({ expect }) => {
    const scene = routeScene([A, { ...B, capabilities: completing }]);
    for (const [uri, slug] of [
      ["x:{n}", "a"],
      ["y:{n}", "a"],
      ["z:{n}", "b"],
      // Some clients send what the template has become.
      ["x:1", "a"],
      ["z:5", "b"],
    ]) {
      const routed = await scene.route(complete, resource(uri));
      expect(routed).toMatchObject({ kind: "server", server: { slug } });
      expect(routed).toHaveProperty("call.params", resource(uri));
    }
  });

  test("of a template is not that of another template that it fits", async ({ expect }) => {
    const scene = routeScene([{ ...A, has: { templates: ["z:{+rest}"] } }, B]);
    const client = { revision: "2024-11-05", capabilities: {} } as const;
    expect(await scene.route(complete, resource("z:{n}"), client)).toMatchObject({
      ...{ kind: "server", server: { slug: "b" } },
    });
  });

  test("of an unknown reference is refused in one way", async ({ expect }) => {
    const scene = routeScene([A, B]);
    expect(await scene.route(complete, prompt("c__ask"))).toHaveProperty("reply.error", {
      ...{ code: -32602, message: "Unknown prompt: c__ask" },
    });
    expect(await scene.route(complete, resource("q:{n}"))).toHaveProperty("reply.error", {
      ...{ code: -32602, message: "Unknown resource or template: q:{n}" },
    });
  });

  test.for([undefined, 1, {}, { type: "ref/prompt" }, { type: "ref/tool", name: "a__ask" }])(
    "of %j is malformed",
    async (ref, { expect }) => {
      expect(short(await routeScene([A, B]).route(complete, { ref }))).toBe(-32602);
    },
  );

  test("of a forbidden item is that of an unknown one", async ({ expect }) => {
    const guarded = { ...A, prompts: policy([]), resources: policy(undefined, ["x:*"]) };
    for (const scene of [routeScene([guarded, B]), routeScene([{ ...guarded, prefix: "" }])]) {
      const { isMerged } = scene.place.endpoint;
      const [ask, none] = isMerged ? ["a__ask", "a__none"] : ["ask", "none"];
      expect(await scene.route(complete, prompt(ask))).toHaveProperty("reply.error", {
        ...{ code: -32602, message: `Unknown prompt: ${ask}` },
      });
      expect(short(await scene.route(complete, prompt(none)))).toBe(-32602);
      for (const uri of ["x:{n}", "x:1", "x:2", "q:{n}"]) {
        expect(await scene.route(complete, resource(uri))).toHaveProperty("reply.error", {
          ...{ code: -32602, message: `Unknown resource or template: ${uri}` },
        });
      }
      expect(short(await scene.route(complete, { ref: { type: "ref/prompt", name: [ask] } }))).toBe(
        -32602,
      );
    }
  });
});

test("a completion that might reveal forbidden names is empty", async ({ expect }) => {
  const none = { completion: { values: [] } };
  const templates = ["x:{n}", "y:{n}", "{+any}"];
  const guarded = { ...A, has: { templates }, resources: policy(undefined, ["X:secret*"]) };
  for (const scene of [routeScene([guarded, B]), routeScene([guarded], { keepsNames: true })]) {
    for (const uri of ["x:{n}", "{+any}"]) {
      const { isMerged } = scene.place.endpoint;
      const result = isMerged ? { ...none, _meta: { "edgeway/server": "a" } } : none;
      expect(await scene.route(complete, resource(uri))).toEqual({
        ...{ kind: "reply", reply: { result } },
      });
    }
    // Nothing of another scheme is forbidden.
    expect(await scene.route(complete, resource("y:{n}"))).toHaveProperty("server.slug", "a");
  }
});

describe("a server without completions", () => {
  const none = { result: { completion: { values: [] }, _meta: { "edgeway/server": "b" } } };

  test("returns none without being asked if it would advertise them", async ({ expect }) => {
    const scene = routeScene([A, B]);
    expect(await scene.route(complete, resource("z:{n}"))).toEqual({ kind: "reply", reply: none });
    // Servers of the first revision could not say so, and those of the latest do not.
    for (const client of [{ revision: "2024-11-05", capabilities: {} } as const, MODERN]) {
      const routed = await scene.route(complete, resource("z:{n}"), client);
      expect(routed).toMatchObject({ kind: "server", server: { slug: "b" } });
    }
  });

  test("is asked if its catalog is not known", async ({ expect }) => {
    const scene = routeScene([A, { slug: "b", has: "none" }]);
    expect(short(await scene.route(complete, prompt("b__ask")))).toEqual([
      ...["b", { type: "ref/prompt", name: "ask", title: "T" }],
    ]);
  });

  test("answers itself if it is the only one", async ({ expect }) => {
    const scene = routeScene([B]);
    expect(await scene.route(complete, resource("z:{n}"))).toMatchObject({ kind: "server" });
    expect(await scene.route(complete, { ref: 1 })).toMatchObject({ kind: "server" });
    expect(scene.asked).toEqual([]);
  });
});
