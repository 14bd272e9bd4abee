/** The rows of added servers: their order, their numbers, and what two operators do at once. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type RowStore, ServerRows } from "../../../../src/config/registry/server-rows.ts";
import type { AddedServer } from "../../../../src/observability/added-servers.ts";

function rowsIn(kept: Map<string, unknown>, now: () => number = Date.now): ServerRows {
  const store: RowStore = {
    get: (key) => structuredClone(kept.get(key)),
    put: (key, value) => void kept.set(key, structuredClone(value)),
    delete: (key) => kept.delete(key),
    list: ({ prefix }) =>
      [...kept]
        .filter(([key]) => key.startsWith(prefix))
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  };
  return new ServerRows(store, now);
}

function server(slug: string, label = slug): AddedServer {
  return {
    ...{ slug, label, state: "live", entry: { url: "https://a.example/mcp" }, secretNames: [] },
    ...{ provenance: { kind: "url" }, changedBy: "p", changedAt: 0 },
  };
}

describe("the rows of added servers", () => {
  test("stay in the order in which they were added", ({ expect }) => {
    const rows = rowsIn(new Map());
    rows.putServer(server("z"), 0);
    rows.putServer(server("a"), 0);
    rows.putServer(server("z", "changed"), 1);
    expect(rows.all().servers.map(({ slug, label }) => [slug, label])).toEqual([
      ["z", "changed"],
      ["a", "a"],
    ]);
  });

  test("change for whoever saw the newest, and for nobody else", ({ expect }) => {
    const act = fc.record({
      slug: fc.constantFrom("a", "b"),
      seen: fc.nat({ max: 12 }),
      isRemoval: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 12 }), (acts) => {
        const kept = new Map<string, unknown>();
        for (const { slug, seen, isRemoval } of acts) {
          // Each act meets another life of the object.
          const rows = rowsIn(kept);
          const before = rows.all();
          const current = before.servers.find((each) => each.slug === slug)?.revision ?? 0;
          const outcome = isRemoval
            ? rows.removeServer(slug, seen)
            : rows.putServer(server(slug), seen);
          const mayChange = seen === current && !(isRemoval && current === 0);
          expect(outcome.kind).toBe(mayChange ? "changed" : "clash");
          if (mayChange) expect(rows.version).toBe(before.version + 1);
          else expect(rows.all()).toEqual(before);
        }
      }),
    );
  });

  test("have bounds", ({ expect }) => {
    const rows = rowsIn(new Map());
    const large = server("a", "x".repeat(40_000));
    expect(rows.putServer(large, 0)).toEqual({ kind: "too-large", mostBytes: 32_768 });
    for (let n = 0; n < 200; n++) rows.putServer(server(`s${n}`), 0);
    expect(rows.putServer(server("more"), 0)).toEqual({ kind: "full", most: 200 });
  });

  test("are added together, or none of them is", ({ expect }) => {
    const rows = rowsIn(new Map());
    rows.putServer(server("b"), 0);
    const before = rows.all();
    const large = server("c", "x".repeat(40_000));
    expect(rows.addServers([server("a"), server("b")])).toEqual({ kind: "clash", slug: "b" });
    expect(rows.addServers([server("a"), server("a")])).toEqual({ kind: "clash", slug: "a" });
    expect(rows.addServers([server("a"), large])).toMatchObject({ kind: "too-large", slug: "c" });
    const many = Array.from({ length: 200 }, (_, n) => server(`s${n}`));
    expect(rows.addServers(many)).toEqual({ kind: "full", most: 200 });
    expect(rows.all()).toEqual(before);
    expect(rows.addServers([server("z"), server("a")])).toEqual({ kind: "changed", version: 3 });
    expect(rows.all().servers.map(({ slug, revision }) => [slug, revision])).toEqual([
      ...[["b", 1] as const, ["z", 2] as const, ["a", 3] as const],
    ]);
  });

  test("keep secrets that were sealed anew, whoever changes something else meanwhile", ({
    expect,
  }) => {
    const rows = rowsIn(new Map());
    const one = { ...server("a"), secretNames: ["T"] };
    rows.putServer({ ...one, sealed: "old" }, 0);
    const before = rows.version;
    expect(rows.resealServer("a", "other", "new")).toBe(false);
    expect(rows.resealServer("a", "old", "new")).toBe(true);
    expect(rows.resealServer("a", "old", "newer")).toBe(false);
    // Nothing has changed for anybody.
    expect(rows.version).toBe(before);
    expect(rows.putServer({ ...one, state: "paused" }, 1)).toMatchObject({ kind: "changed" });
    expect(rows.all().servers).toMatchObject([{ state: "paused", sealed: "new" }]);
    rows.putServer({ ...one, sealed: "another" }, 2);
    expect(rows.all().servers).toMatchObject([{ sealed: "another" }]);
    rows.putServer({ ...one, secretNames: [] }, 3);
    expect(rows.all().servers[0]).not.toHaveProperty("sealed");
  });

  test("of a switch that narrows nothing are none", ({ expect }) => {
    const rows = rowsIn(new Map());
    expect(rows.putSwitch("a", {}, 0)).toEqual({ kind: "changed", version: 0 });
    rows.putSwitch("a", { off: true }, 0);
    expect(rows.all().switches).toEqual({ a: { off: true, revision: 1 } });
    expect(rows.putSwitch("a", {}, 0)).toEqual({ kind: "clash" });
    rows.putSwitch("a", { deniedTools: [] }, 1);
    expect(rows.all()).toMatchObject({ version: 2, servers: [], switches: {} });
  });
});

test("say when they have changed last, also in another life", ({ expect }) => {
  let now = 1000;
  const kept = new Map<string, unknown>();
  const rows = rowsIn(kept, () => now);
  expect(rows.all().changedAt).toBe(0);
  rows.putServer(server("a"), 0);
  now += 300;
  expect(rowsIn(kept).all().changedAt).toBe(1000);
  rows.putSwitch("a", { off: true }, 0);
  expect(rows.all().changedAt).toBe(1300);
});
