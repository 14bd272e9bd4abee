/** Resources that two servers claim: their owner, and the reports of the conflict. */

import { describe, test, vi } from "vitest";

import {
  type Conflict,
  conflictsAmong,
  isTaken,
} from "../../../../src/catalog/routing/conflicts.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { ListKind } from "../../../../src/catalog/catalog.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { mergedWorld, namesIn, pageOf, thingsIn } from "../lists/merged-world.ts";
import { policy } from "./route-fixture.ts";

interface Has {
  readonly uris?: readonly string[];
  readonly templates?: readonly string[];
  /** Of a tool that shows its results with it. */
  readonly page?: string;
}

function partOf(
  slug: string,
  { uris = [], templates = [], page }: Has,
  server: Partial<Server> = {},
) {
  const pointing = { _meta: { ui: { resourceUri: page } } };
  const lists = {
    resources: things("uri", uris),
    templates: things("uriTemplate", templates),
    tools: page === undefined ? [] : things("name", ["t"], pointing),
  };
  return { server: fakeServer(slug, server), catalog: catalogOf({ lists }) };
}

const brief = (conflicts: readonly Conflict[]) =>
  conflicts.map(({ server, with: other, uris }) => [server, other, uris]);

describe("two servers are in conflict", () => {
  test.for<{ name: string; earlier: Has; later: Has; uris: readonly string[]; says: string }>([
    {
      name: "when both list a URI",
      earlier: { uris: ["tea:menu", "tea:own"] },
      later: { uris: ["tea:menu"] },
      uris: ["tea:menu"],
      says: '1 resource of upstream "b" is left out: upstream "a", configured earlier, has the same URI',
    },
    {
      name: "when the later one lists what fits a template of the earlier one",
      earlier: { templates: ["tea:{item}"] },
      later: { uris: ["tea:1", "tea:2", "coffee:1"] },
      uris: ["tea:1", "tea:2"],
      says: '2 resources of upstream "b" are left out: upstream "a", configured earlier, has a template that fits',
    },
    {
      name: "when the earlier one lists what fits a template of the later one",
      earlier: { uris: ["tea:menu"] },
      later: { templates: ["tea:{item}"] },
      uris: ["tea:menu"],
      says: 'Requests for what fits a template of upstream "b" go elsewhere for 1 resource: upstream "a", configured earlier, lists the same URI',
    },
    {
      name: "when both list a template",
      earlier: { templates: ["tea:{item}"] },
      later: { templates: ["tea:{item}"] },
      uris: ["tea:{item}"],
      says: '1 resource template of upstream "b" is left out: upstream "a", configured earlier, has the same',
    },
    {
      name: "when a template of one fits what comes of the other's",
      earlier: { templates: ["tea:{+item}"] },
      later: { templates: ["tea:cups/{n}", "coffee:{n}"] },
      uris: ["tea:cups/{n}"],
      says: 'Requests for some of what fits 1 resource template of upstream "b" go elsewhere: upstream "a", configured earlier, has a template that fits it, too',
    },
    {
      name: "when the narrower template is that of the earlier one",
      earlier: { templates: ["tea:cups/{n}"] },
      later: { templates: ["tea:{+item}"] },
      uris: ["tea:{+item}"],
      says: 'Requests for some of what fits 1 resource template of upstream "b" go elsewhere: upstream "a", configured earlier, has a template that fits it, too',
    },
    {
      name: "when the earlier one lists the page of the later one's tool",
      earlier: { uris: ["ui://show"] },
      later: { page: "ui://show" },
      uris: ["ui://show"],
      says: '1 resource of upstream "b" is left out: upstream "a", configured earlier, has the same URI',
    },
  ])("$name", ({ earlier, later, uris, says }, { expect }) => {
    expect(conflictsAmong([partOf("a", earlier), partOf("b", later)])).toEqual([
      { server: "b", with: "a", uris, message: says },
    ]);
  });

  test.for<{ name: string; earlier: Has; later: Has; server?: Partial<Server> }>([
    { name: "have nothing in common", earlier: { uris: ["a:1"] }, later: { uris: ["a:2"] } },
    {
      name: "have a template that fits everything",
      earlier: { templates: ["{+uri}"] },
      later: { uris: ["a:1"], templates: ["b:{x}"] },
    },
    {
      name: "are kept apart by the operator",
      ...{ earlier: { uris: ["a:1"], templates: ["a:{x}"] }, later: { uris: ["a:1"] } },
      server: { resources: policy(undefined, ["a:*"]) },
    },
  ])("but not when they $name", ({ earlier, later, server }, { expect }) => {
    expect(conflictsAmong([partOf("a", earlier, server), partOf("b", later)])).toEqual([]);
  });

  test("two by two, with the first five URIs, and once in the log", ({ expect }) => {
    const log = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const many = Array.from({ length: 9 }, (_, n) => `many://u:p@h/${n}?token=secret\u0007`);
    const parts = [
      ...["x", "y", "z"].map((slug) => partOf(slug, { uris: many })),
      { ...partOf("w", {}), catalog: undefined },
    ];
    for (let n = 0; n < 3; n++) {
      expect(brief(conflictsAmong(parts))).toEqual([
        ["y", "x", many.slice(0, 5)],
        ["z", "x", many.slice(0, 5)],
        ["z", "y", many.slice(0, 5)],
      ]);
    }
    expect(log.mock.calls).toHaveLength(3);
    const line = JSON.parse(String(log.mock.calls[0]?.[0])) as Record<string, unknown>;
    expect(line).toMatchObject({ event: "resource_conflict", server: "y", with: "x" });
    expect(line["uris"]).toEqual(many.slice(0, 5).map((_, n) => `many://h/${n}`));
    log.mockRestore();
  });

  test("within a limit of comparisons, which is reported", ({ expect }) => {
    const templates = Array.from({ length: 1000 }, (_, n) => `x:${"{+a}a".repeat(7)}${n}`);
    const uris = Array.from({ length: 1000 }, (_, n) => `x:${"a".repeat(100)}${n}b`);
    const found = conflictsAmong([partOf("a", { templates }), partOf("b", { uris })]);
    expect(found.at(-1)).toMatchObject({
      message: expect.stringContaining("were compared") as string,
      uris: [],
    });
  });
});

describe("a merged list", () => {
  const earlier = partOf("a", { uris: ["tea:menu"], templates: ["tea:cups/{n}"] });
  const later = partOf("b", {
    uris: ["tea:menu", "tea:cups/1", "tea:own"],
    templates: ["tea:cups/{n}", "tea:pots/{n}"],
  });

  test("lists a resource at its owner, and names the conflicts", async ({ expect }) => {
    for (const listPageItems of [1, 1000]) {
      const world = mergedWorld({ a: earlier, b: later }, { listPageItems });
      const listed: Record<string, unknown[]> = {};
      const notes: unknown[] = [];
      for (const list of ["resources", "templates"] as const satisfies readonly ListKind[]) {
        let cursor: unknown;
        do {
          const page = await pageOf(world, { list, ...(cursor === undefined ? {} : { cursor }) });
          (listed[list] ??= []).push(...namesIn(page, list));
          for (const thing of thingsIn(page, list)) {
            const isOfB = /own|pots/.test(JSON.stringify(thing));
            expect(thing["_meta"]).toEqual({ "edgeway/server": isOfB ? "b" : "a" });
          }
          const { "edgeway/servers": said = [] } = (page["_meta"] ?? {}) as Record<string, unknown>;
          notes.push(...(said as unknown[]));
          cursor = page["nextCursor"];
        } while (cursor !== undefined);
      }
      expect(listed).toEqual({
        resources: ["tea:menu", "tea:own"],
        templates: ["tea:cups/{n}", "tea:pots/{n}"],
      });
      for (const uri of ["tea:menu", "tea:cups/1", "tea:cups/{n}"]) {
        expect(notes).toContainEqual({
          ...{ server: "b", with: "a", state: "conflict", uris: [uri] },
          message: expect.stringContaining('upstream "b"') as string,
        });
      }
    }
  });

  test("of tools has no conflicts", async ({ expect }) => {
    expect(await pageOf(mergedWorld({ a: earlier, b: later }))).not.toHaveProperty("_meta");
  });

  test("leaves out nothing for a server without a known catalog", ({ expect }) => {
    const unknown = { ...earlier, catalog: undefined };
    expect(isTaken([unknown], later, "resources", "tea:menu")).toBe(false);
    expect(isTaken([earlier], later, "resources", "tea:menu")).toBe(true);
    expect(isTaken([earlier], later, "tools", "tea:menu")).toBe(false);
  });
});
