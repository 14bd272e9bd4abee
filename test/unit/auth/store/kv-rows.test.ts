/** Keys and values that expire: every reader gets what was written, until it expires. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { KvRows } from "../../../../src/auth/store/kv-rows.ts";
import { START, withSql } from "../../lib/sql-fixture.ts";

const SECONDS = START / 1000;

interface Fixture {
  readonly rows: KvRows;
  readonly pass: (seconds: number) => void;
  readonly rowsIn: (table: string) => number;
}

function withRows<T>(act: (fixture: Fixture) => T): Promise<T> {
  return withSql(({ sql, clock, rowsIn }) =>
    act({
      rows: new KvRows(sql, () => clock.now),
      pass: (seconds) => {
        clock.now += seconds * 1000;
      },
      rowsIn,
    }),
  );
}

const names = (rows: KvRows, prefix: string): readonly string[] =>
  rows.list(prefix).keys.map(({ name }) => name);

describe("a row", () => {
  test("is read as it was written, and as it was written last", async ({ expect }) => {
    await withRows(({ rows }) => {
      expect(rows.get("a")).toBe(null);
      rows.put("a", "1");
      rows.put("a", "2", { expiresAt: SECONDS + 10, metadata: '{"m":1}' });
      expect(rows.get("a")).toBe("2");
      rows.put("a", "3");
      expect(rows.get("a")).toBe("3");
      // The end and the metadata of the second writing are gone with it.
      expect(rows.list("a").keys).toEqual([{ name: "a", metadata: null }]);
    });
  });

  test("is gone at its second, for reading, listing and counting", async ({ expect }) => {
    await withRows(({ rows, pass }) => {
      rows.put("a", "1", { expiresAt: SECONDS + 120 });
      pass(119.999);
      expect([rows.get("a"), names(rows, "")]).toEqual(["1", ["a"]]);
      pass(0.001);
      expect([rows.get("a"), names(rows, "")]).toEqual([null, []]);
    });
  });

  test("is deleted by exactly one of several callers", async ({ expect }) => {
    await withRows(({ rows }) => {
      rows.put("a", "1");
      expect([rows.delete("a"), rows.delete("a"), rows.get("a")]).toEqual([true, false, null]);
    });
  });

  test("is swept when it has expired, and not before", async ({ expect }) => {
    await withRows(({ rows, pass, rowsIn }) => {
      rows.put("for ever", "1");
      rows.put("soon", "1", { expiresAt: SECONDS + 1 });
      rows.put("later", "1", { expiresAt: SECONDS + 2 });
      pass(1);
      rows.sweep();
      expect([names(rows, ""), rowsIn("kv_1")]).toEqual([["for ever", "later"], 2]);
    });
  });

  test.for(["\u{10FFFE}", "\0", "'; DROP TABLE kv_1; --", "", "%", "é", "grant:", "\ud800"])(
    "may be called %j",
    async (key, { expect }) => {
      await withRows(({ rows }) => {
        rows.put(`p:${key}`, key);
        rows.put("q", "other");
        expect(names(rows, "p:").length).toBe(1);
        expect(rows.clear(`p:${key}`)).toBe(1);
        expect(names(rows, "")).toEqual(["q"]);
      });
    },
  );
});

describe("a reservation", () => {
  test("goes to one, until it is over", async ({ expect }) => {
    await withRows(({ rows, pass }) => {
      const reserve = (): boolean => rows.reserve("jti", SECONDS + 60);
      expect([reserve(), reserve(), reserve()]).toEqual([true, false, false]);
      pass(60);
      expect(rows.reserve("jti", SECONDS + 120)).toBe(true);
      expect(rows.reserve("jti", SECONDS + 120)).toBe(false);
    });
  });
});

describe("an end that is put off", () => {
  test("is extended when it is due, and never shortened", async ({ expect }) => {
    await withRows(({ rows, pass }) => {
      rows.put("a", "1", { expiresAt: SECONDS + 100 });
      rows.extend("a", SECONDS + 200, SECONDS + 99);
      pass(100);
      expect(rows.get("a")).toBe(null);
      rows.put("b", "1", { expiresAt: SECONDS + 200 });
      rows.extend("b", SECONDS + 400, SECONDS + 200);
      pass(299);
      expect(rows.get("b")).toBe("1");
      pass(1);
      expect(rows.get("b")).toBe(null);
    });
  });

  test("brings nothing back, and ends nothing that has no end", async ({ expect }) => {
    await withRows(({ rows, pass }) => {
      rows.put("over", "1", { expiresAt: SECONDS + 1 });
      rows.put("for ever", "1");
      pass(1);
      for (const key of ["over", "for ever", "never was"]) {
        rows.extend(key, SECONDS + 10, SECONDS + 1000);
      }
      pass(20);
      expect(names(rows, "")).toEqual(["for ever"]);
    });
  });
});

describe("a list", () => {
  test("has what begins with the prefix, and nothing beside it", async ({ expect }) => {
    await withRows(({ rows }) => {
      for (const key of [
        "grant:u:1",
        "grant:u:2",
        "grant:uu:1",
        "grant:u",
        "grant;",
        "token:u:1",
      ]) {
        rows.put(key, "1");
      }
      expect(names(rows, "grant:u:")).toEqual(["grant:u:1", "grant:u:2"]);
      expect(rows.clear("grant:u:")).toBe(2);
      expect(names(rows, "")).toEqual(["grant:u", "grant:uu:1", "grant;", "token:u:1"]);
    });
  });

  test("has every row once on its pages, in order", async ({ expect }) => {
    const anything = fc.string({ unit: "binary", maxLength: 6 });
    // The one that stands above all others ends a list, and no key of the library has it.
    const names = anything.map((name) => name.replaceAll("\u{10FFFF}", ""));
    const keys = fc.uniqueArray(names, { maxLength: 40 });
    await withRows(({ rows }) => {
      fc.assert(
        fc.property(keys, fc.integer({ min: 1, max: 7 }), (all, limit) => {
          rows.clear("");
          for (const key of all) rows.put(`p:${key}`, "1");
          const found: string[] = [];
          let cursor: string | undefined = "";
          while (cursor !== undefined) {
            const page = rows.list("p:", limit, cursor);
            expect(page.keys.length).toBeLessThanOrEqual(limit);
            found.push(...page.keys.map(({ name }) => name.slice(2)));
            cursor = page.cursor;
          }
          expect(found.toSorted()).toEqual(all.toSorted());
        }),
        { numRuns: 50 },
      );
    });
  });
});
