/** The stored catalogs: rows that the database accepts, and no more writes than changes. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type Catalog, LIST_KINDS } from "../../../../src/catalog/catalog.ts";
import { CatalogStore, type StoredCatalog } from "../../../../src/catalog/cache/catalog-store.ts";
import { ask, catalogOf, LEGACY, type Scene, serves, withScene } from "./catalog-fixture.ts";
import { START } from "../../lib/sql-fixture.ts";

const MAX_ROW_BYTES = 2_000_000;

function rowsIn(scene: Scene): { n: number; largest: number } {
  return scene.sql
    .exec<{ n: number; largest: number }>(
      "SELECT count(*) AS n, max(length(CAST(data AS BLOB))) AS largest FROM catalog_rows_1",
    )
    .one();
}

const transaction = <T>(work: () => T): T => work();

function shelfOf(scene: Scene): CatalogStore {
  return new CatalogStore({ sql: scene.sql, transaction }, "https://docs.example/mcp");
}

function shelved(id: number, version: string): StoredCatalog {
  const counts = { tools: 0, resources: 0, templates: 0, prompts: 0 };
  const facts = { version, counts, topics: [], chars: 0 };
  return {
    id,
    client: LEGACY,
    facts,
    readAt: START,
    outdated: [],
    unannounced: [],
    outage: undefined,
  };
}

const text = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 20, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  { weight: 10, arbitrary: fc.constantFrom("\ud83d", "\n\u2028\u0000", "") },
);
const item = fc.record({ name: text, text });
const lists = fc.record({
  tools: fc.array(item, { maxLength: 8 }),
  resources: fc.array(item, { maxLength: 3 }),
  templates: fc.array(item, { maxLength: 3 }),
  prompts: fc.array(item, { maxLength: 3 }),
});
const catalog: fc.Arbitrary<Catalog> = fc.record({
  version: fc.string(),
  era: fc.constantFrom("legacy", "modern"),
  about: fc.record({
    capabilities: fc.constant({ tools: {} }),
    serverInfo: fc.constant({ name: "s" }),
    instructions: text,
  }),
  lists,
  flaws: fc.array(text, { maxLength: 2 }),
  faults: fc.array(
    fc.record({
      list: fc.constantFrom(...LIST_KINDS),
      reason: fc.constant("malformed"),
      message: text,
      since: fc.nat(),
    }),
    { maxLength: 2 },
  ),
  isPublic: fc.boolean(),
});

describe("stored rows", () => {
  test("return every catalog unchanged, also one in place of another", async ({ expect }) => {
    await withScene(async (scene) => {
      const shelf = shelfOf(scene);
      let last: Catalog | undefined;
      fc.assert(
        fc.property(catalog, (given) => {
          const kept = shelved(1, given.version);
          const changed = shelf.replace(kept, given);
          expect(shelf.read(kept)).toEqual(given);
          expect(rowsIn(scene).largest).toBeLessThanOrEqual(MAX_ROW_BYTES);
          const other = LIST_KINDS.filter(
            (list) => JSON.stringify(last?.lists[list] ?? []) !== JSON.stringify(given.lists[list]),
          );
          expect(changed.filter((part) => part !== "about")).toEqual(other);
          last = given;
        }),
        { numRuns: 60 },
      );
    });
  });

  test.for([
    ["of one byte", "x".repeat(3_000_000)],
    ["of four bytes", "😀".repeat(700_000)],
    ["that JSON spells out", "\ud83d".repeat(500_000)],
  ])("hold an item of many characters %s", async ([, long = ""], { expect }) => {
    await withScene(async (scene) => {
      const shelf = shelfOf(scene);
      const kept = shelved(1, "1");
      const whole = catalogOf({ tools: ["a", `b ${long}`, "c", long] }, { version: "1" });
      shelf.replace(kept, whole);
      expect(rowsIn(scene).largest).toBeLessThanOrEqual(MAX_ROW_BYTES);
      const read = shelf.read(kept);
      expect(read?.lists.tools.map(({ name }) => name.length)).toEqual([
        ...[1, long.length + 2, 1, long.length],
      ]);
      // Not by toEqual, which would print them.
      expect(JSON.stringify(read?.lists) === JSON.stringify(whole.lists)).toBe(true);
    });
  });

  test("of an unchanged list are not written", async ({ expect }) => {
    await withScene(async (scene) => {
      const shelf = shelfOf(scene);
      const many = Array.from({ length: 20_000 }, (_, n) => `tool number ${n}`);
      const first = catalogOf({ tools: many, prompts: ["a"] }, { version: "1" });
      expect(shelf.replace(shelved(1, "1"), first)).toEqual(["about", "tools", "prompts"]);
      const before = rowsIn(scene).n;
      const { lists } = catalogOf({ tools: [...many, "last"], prompts: ["a"] });
      const cursor = scene.sql.exec("SELECT total_changes() AS n").one()["n"] as number;
      expect(shelf.replace(shelved(1, "2"), { ...first, lists, version: "2" })).toEqual(["tools"]);
      const written = (scene.sql.exec("SELECT total_changes() AS n").one()["n"] as number) - cursor;
      // The row of facts, and the last row of the list: out, and in again.
      expect([before > 4, written]).toEqual([true, 3]);
    });
  });

  test("of one catalog are deleted without those of another", async ({ expect }) => {
    await withScene(async (scene) => {
      const shelf = shelfOf(scene);
      const one = catalogOf({ tools: ["a"], prompts: ["p"] }, { version: "1" });
      for (const id of [1, 2, 3]) shelf.replace(shelved(id, "1"), one);
      shelf.drop(2);
      expect(shelf.load().map(({ id }) => id)).toEqual([1, 3]);
      expect(shelf.read(shelved(2, "1"))).toBeUndefined();
      for (const id of [1, 3]) expect(shelf.read(shelved(id, "1"))).toEqual(one);
    });
  });
});

describe("the database", () => {
  test("stays empty while no catalog is known", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      cache.outdated(["tools"]);
      cache.report({ reason: "unreachable", message: "It is gone", since: START });
      cache.condition();
      const tables = scene.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'catalog%'");
      expect([...tables]).toEqual([]);
    });
  });

  test("gets one row an hour while nothing changes", async ({ expect }) => {
    await withScene(async (scene) => {
      const cache = scene.cache();
      const changes = (): number =>
        scene.sql.exec("SELECT total_changes() AS n").one()["n"] as number;
      serves(scene, catalogOf({ tools: ["one"] }));
      await ask(cache);
      const before = changes();
      for (let minute = 0; minute < 59; minute++) {
        scene.now += 60_000;
        await ask(cache);
      }
      expect(changes() - before).toBe(0);
      scene.now += 60_000;
      await ask(cache);
      // One row, out and in again.
      expect(changes() - before).toBeLessThanOrEqual(2);
      expect(scene.attempts).toHaveLength(61);
      // So that the next life knows how old it is.
      expect(scene.cache().condition().seenAt).toBe(scene.now);
    });
  });

  test("forgets catalogs that were read from another URL", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, catalogOf({ tools: ["one"] }), 60_000);
      await ask(scene.cache());
      expect(scene.cache().condition().state).toBe("healthy");
      const moved = scene.cache({ endpoint: "https://elsewhere.example/mcp" });
      expect(moved.condition().state).toBe("unknown");
      expect(rowsIn(scene).n).toBe(0);
      await ask(moved);
      expect(scene.attempts).toHaveLength(2);
    });
  });
});

describe("a large catalog", () => {
  const names = Array.from({ length: 10_000 }, (_, n) => `tool-${n}-${"x".repeat(300)}`);
  const large = catalogOf({ tools: names }, { version: "large" });

  test("is complete in the next life of the object", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, large, 60_000);
      await ask(scene.cache());
      const next = scene.cache();
      const answer = await ask(next);
      expect(answer.kind === "catalog" && answer.catalog).toEqual(large);
      expect(scene.attempts).toHaveLength(1);
      expect(next.condition().counts.tools).toBe(10_000);
    });
  });

  test("is not loaded for a caller that has its version", async ({ expect }) => {
    await withScene(async (scene) => {
      serves(scene, large, 60_000);
      await ask(scene.cache());
      const queries: string[] = [];
      const sql: typeof scene.sql.exec = (query, ...bindings) => {
        queries.push(query);
        return scene.sql.exec(query, ...bindings);
      };
      const cache = scene.cache({
        storage: { sql: { exec: sql }, transaction: (work) => work() },
      });
      expect((await ask(cache, { known: "large" })).kind).toBe("same");
      expect(queries.filter((query) => query.includes("catalog_rows"))).toEqual([]);
    });
  });
});
