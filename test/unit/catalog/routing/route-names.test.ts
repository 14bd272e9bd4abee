/** The server of a tool or prompt that a client calls by its public name. */

import { describe, test } from "vitest";

import { namingOf } from "../../../../src/catalog/names/naming.ts";
import { serverOf } from "../../../../src/endpoint/endpoint.ts";
import { LEGACY, MODERN } from "../cache/catalog-fixture.ts";
import { policy, type RouteScene, routeScene, short } from "./route-fixture.ts";

const LONG = "list_all_pull_requests_of_everybody_in_every_repository";

/** What a long name of a server is called. */
function shortNameOf({ place, said }: RouteScene, slug: string, name: string): string {
  const server = serverOf(place.endpoint, slug);
  const catalog = said.get(slug);
  if (server === undefined || typeof catalog !== "object") throw new Error(`no ${slug}`);
  const naming = namingOf(place.endpoint, place.limits.nameChars);
  const names = catalog.lists.tools.map((tool) => tool.name);
  const publicName = naming.publicNames(server, "tools", names).get(name);
  if (publicName === undefined) throw new Error(`no ${name}`);
  return publicName;
}

const unknown = (kind: "tool" | "prompt", name: string): unknown => ({
  kind: "reply",
  reply: { error: { code: -32602, message: `Unknown ${kind}: ${name}` } },
});

const serversUnknown = {
  kind: "reply",
  reply: {
    error: {
      code: -32603,
      message: "It is not known right now which servers were added; try again later.",
    },
  },
};

describe("at a merged endpoint", () => {
  test("a name goes to the server of its prefix, and the rest of the call stays unchanged", async ({
    expect,
  }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    const params = { name: "b__work", arguments: { name: "b__x" }, _meta: { progressToken: 7 } };
    const routed = await scene.route("tools/call", params);
    expect(routed).toMatchObject({ kind: "server", server: { slug: "b" } });
    expect(routed).toHaveProperty("call", {
      method: "tools/call",
      params: { ...params, name: "work" },
    });
    expect(short(await scene.route("prompts/get", { name: "a__hello" }))).toEqual(["a", "hello"]);
  });

  test("no list is requested, even for names that are in none", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has: "never" }, { slug: "b" }]);
    expect(short(await scene.route("tools/call", { name: "a__hidden" }))).toEqual(["a", "hidden"]);
    expect(scene.asked).toEqual([]);
  });

  test("a shortened name is found in the list of its server alone", async ({ expect }) => {
    const scene = routeScene([
      { slug: "a", has: "never" },
      { slug: "b", has: { tools: ["x", LONG] } },
    ]);
    const name = shortNameOf(scene, "b", LONG);
    expect(name.length).toBeLessThanOrEqual(45);
    expect(short(await scene.route("tools/call", { name }))).toEqual(["b", LONG]);
    expect(scene.asked).toEqual(["b"]);
    expect(short(await scene.route("tools/call", { name }))).toEqual(["b", LONG]);
    expect(scene.asked).toEqual(["b"]);
  });

  test("a new shortened name is found in the next list", async ({ expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b", has: { tools: ["x", LONG] } }]);
    const name = shortNameOf(scene, "b", LONG);
    const later = scene.said.get("b");
    scene.said.set("b", "none");
    expect(await scene.route("tools/call", { name })).toEqual({
      kind: "reply",
      reply: {
        error: {
          ...{ code: -32603, message: 'Upstream "b" cannot be reached' },
          data: { upstream: "b", reason: "unreachable" },
        },
      },
    });
    if (later !== undefined) scene.said.set("b", later);
    expect(short(await scene.route("tools/call", { name }))).toEqual(["b", LONG]);
  });

  test.for(["nobody", "c__work", "", "a", "a_work", "ä__x", "x".repeat(10_000)])(
    "%s has no server",
    async (name, { expect }) => {
      const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
      for (const client of [LEGACY, MODERN]) {
        const routed = await scene.route("tools/call", { name }, client);
        expect(short(routed)).toBe(-32602);
        expect(JSON.stringify(routed).length).toBeLessThan(300);
      }
      expect(scene.asked).toEqual([]);
    },
  );

  test("the refusal quotes the name, cleaned", async ({ expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    expect(await scene.route("tools/call", { name: "no\n\u202ebody" })).toEqual(
      unknown("tool", "no body"),
    );
    expect(await scene.route("prompts/get", { name: "nobody" })).toEqual(
      unknown("prompt", "nobody"),
    );
  });

  test.for([undefined, null, 1, ["a__work"], {}])("%j is no name", async (name, { expect }) => {
    const scene = routeScene([{ slug: "a" }, { slug: "b" }]);
    expect(await scene.route("tools/call", { name })).toEqual({
      kind: "reply",
      reply: { error: { code: -32602, message: "params.name must be a string" } },
    });
  });
});

describe("the only server of an endpoint", () => {
  test("gets a call unchanged, whatever is in it", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has: "never" }], { keepsNames: true });
    for (const params of [{ name: "work" }, { name: "b__ wörk/\n" }, { name: 1 }, {}]) {
      expect(await scene.route("tools/call", params)).toEqual({
        kind: "server",
        server: scene.place.endpoint.servers[0],
        call: { method: "tools/call", params },
      });
    }
    expect(scene.asked).toEqual([]);
  });

  test("gets no call for a server of somebody's machine, unless it lists the name", async ({
    expect,
  }) => {
    const has = { tools: ["work", "my-notes__read"] };
    const scene = routeScene([{ slug: "a", has }], { publishes: true });
    const name = "my-files__work";
    expect(await scene.route("tools/call", { name })).toEqual(unknown("tool", name));
    expect(await scene.route("prompts/get", { name })).toEqual(unknown("prompt", name));
    for (const own of ["my-notes__read", "my-files", "hidden", "my-__work", "x__my-files__work"])
      expect(short(await scene.route("tools/call", { name: own }))).toEqual(["a", own]);
    const nobody = routeScene([{ slug: "a", has }]);
    expect(short(await nobody.route("tools/call", { name }))).toEqual(["a", name]);
  });

  test("has the operator's names, except at its own endpoint", async ({ expect }) => {
    const tools = { ...policy(), rename: new Map([["old", "new"]]) };
    const root = routeScene([{ slug: "a", tools }]);
    expect(short(await root.route("tools/call", { name: "new" }))).toEqual(["a", "old"]);
    expect(await root.route("tools/call", { name: "old" })).toEqual(unknown("tool", "old"));
    const own = routeScene([{ slug: "a", tools }], { keepsNames: true });
    expect(short(await own.route("tools/call", { name: "old" }))).toEqual(["a", "old"]);
  });
});

describe("while nobody can be asked what was added", () => {
  const endpoint = { isPartial: true } as const;
  const has = { tools: ["work", "list__all"], prompts: ["hello"] };

  test("an only server gets no call for another one: it gets those that it lists", async ({
    expect,
  }) => {
    const scene = routeScene([{ slug: "a", has }], { endpoint });
    for (const own of [...has.tools, "hidden", "gh_work"])
      expect(short(await scene.route("tools/call", { name: own }))).toEqual(["a", own]);
    expect(await scene.route("tools/call", { name: "new__work" })).toEqual(serversUnknown);
    const ref = { type: "ref/prompt", name: "new__hello" };
    expect(await scene.route("completion/complete", { ref })).toEqual(serversUnknown);
  });

  test("several servers do not say that a name is unknown", async ({ expect }) => {
    const scene = routeScene([{ slug: "a", has }, { slug: "b" }], { endpoint });
    for (const name of ["a__work", "a__hidden"])
      expect(short(await scene.route("tools/call", { name }))).toEqual(["a", name.slice(3)]);
    expect(await scene.route("tools/call", { name: "new__work" })).toEqual(serversUnknown);
  });
});

describe("the server that keeps its names beside added ones", () => {
  const has = { tools: ["work", "list__all"] };
  const parts = [{ slug: "a", has }, { slug: "b" }] as const;

  test("gets no call for one that was paused or removed, unless it lists the name", async ({
    expect,
  }) => {
    const scene = routeScene(parts, { endpoint: { plain: "a", version: 1 } });
    for (const own of ["work", "list__all", "hidden", "gh_work", "List__work"])
      expect(short(await scene.route("tools/call", { name: own }))).toEqual(["a", own]);
    for (const name of ["gone__work", "_2nd__work"])
      expect(await scene.route("tools/call", { name })).toEqual(unknown("tool", name));
    expect(short(await scene.route("tools/call", { name: "b__x__y" }))).toEqual(["b", "x__y"]);
  });

  test("loses no name where it is alone, and while nothing was ever added", async ({ expect }) => {
    const name = "x__y";
    for (const scene of [
      routeScene([{ slug: "a", has }], { endpoint: { plain: "a", version: 1 } }),
      routeScene(parts, { endpoint: { plain: "a", version: 0 } }),
    ])
      expect(short(await scene.route("tools/call", { name }))).toEqual(["a", name]);
  });
});

describe("a forbidden name", () => {
  const has = { tools: ["open", "shut", LONG], prompts: ["open", "shut"] };
  const guarded = {
    ...{ slug: "a", has, tools: policy(["*"], ["shut", "list*"]) },
    prompts: policy(["open", "named"]),
  };

  test("gets the answer of an unknown one", async ({ expect }) => {
    const scene = routeScene([guarded, { slug: "b" }]);
    expect(short(await scene.route("tools/call", { name: "a__open" }))).toEqual(["a", "open"]);
    for (const name of ["a__shut", "a__gone", "a__SHUT", "a__shut "]) {
      expect(await scene.route("tools/call", { name })).toEqual(unknown("tool", name.trim()));
    }
    for (const name of ["a__shut", "a__gone"]) {
      expect(await scene.route("prompts/get", { name })).toEqual(unknown("prompt", name));
    }
  });

  test("takes the path of an unknown one", async ({ expect }) => {
    const scene = routeScene([guarded, { slug: "b" }]);
    await scene.route("tools/call", { name: "a__open" });
    const asked = async (name: string): Promise<readonly string[]> => {
      scene.asked.length = 0;
      await scene.route("tools/call", { name });
      return [...scene.asked];
    };
    expect(await asked("a__shut")).toEqual(await asked("a__gone"));
    expect(await asked("a__open")).toEqual([]);
  });

  test("is not available by its short name either", async ({ expect }) => {
    const scene = routeScene([guarded, { slug: "b" }]);
    const name = shortNameOf(scene, "a", LONG);
    expect(await scene.route("tools/call", { name })).toEqual(unknown("tool", name));
  });

  test("unless it is allowed literally, listed or not", async ({ expect }) => {
    const scene = routeScene([guarded, { slug: "b" }]);
    expect(short(await scene.route("prompts/get", { name: "a__named" }))).toEqual(["a", "named"]);
    expect(scene.asked).toEqual([]);
  });

  test("is not revealed by a server that is down", async ({ expect }) => {
    const scene = routeScene([{ ...guarded, has: "none" }, { slug: "b" }]);
    const [shut, gone] = [
      await scene.route("tools/call", { name: "a__shut" }),
      await scene.route("tools/call", { name: "a__gone" }),
    ];
    expect(short(shut)).toBe(-32603);
    expect(shut).toEqual(gone);
  });

  test("is forbidden at the server's own endpoint too, for names of every type", async ({
    expect,
  }) => {
    const scene = routeScene([guarded], { keepsNames: true });
    expect(short(await scene.route("tools/call", { name: "open" }))).toEqual(["a", "open"]);
    expect(await scene.route("tools/call", { name: "shut" })).toEqual(unknown("tool", "shut"));
    expect(await scene.route("tools/call", { name: "gone" })).toEqual(unknown("tool", "gone"));
    expect(short(await scene.route("tools/call", { name: ["shut"] }))).toBe(-32602);
    expect(short(await scene.route("tools/call"))).toBe(-32602);
    // What is called so here is judged by what the server calls it.
    const tools = { ...policy(undefined, ["shut"]), rename: new Map([["shut", "fine"]]) };
    const renamed = routeScene([{ slug: "a", has, tools }]);
    expect(await renamed.route("tools/call", { name: "fine" })).toEqual(unknown("tool", "fine"));
  });

  test("does not hide a tool that was listed a moment ago", async ({ expect }) => {
    const scene = routeScene([{ ...guarded, has: {} }, { slug: "b" }]);
    expect(short(await scene.route("tools/call", { name: "a__open" }))).toBe(-32602);
    const [now] = [routeScene([guarded]).said.get("a")];
    if (now !== undefined) scene.said.set("a", now);
    expect(short(await scene.route("tools/call", { name: "a__open" }))).toEqual(["a", "open"]);
  });
});
