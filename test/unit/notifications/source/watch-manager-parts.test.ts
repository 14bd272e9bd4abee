/** The parts of a watch manager: the numbers of news, the stored interests, and whose URI is meant. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  deleteAllButNumbers,
  NewsNumbers,
} from "../../../../src/notifications/source/publisher.ts";
import { TopicInterest, wantedUriOf } from "../../../../src/notifications/source/topic-interest.ts";
import { withSql } from "../../lib/sql-fixture.ts";

describe("the numbers of news", () => {
  test("grow within a life and from one to the next, and take a row a life", async ({ expect }) => {
    await withSql(({ sql, rowsIn }) => {
      const numbers: number[] = [];
      let written = 0;
      const counted: typeof sql = {
        exec: (query, ...bindings) => {
          if (query.includes("INSERT")) written += 1;
          return sql.exec(query, ...bindings);
        },
      };
      for (let life = 0; life < 3; life++) {
        const source = new NewsNumbers(counted, () => 5000);
        for (let n = 0; n < 100; n++) numbers.push(source.next());
      }
      // One that has no news takes none.
      void new NewsNumbers(counted, () => 5000);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(numbers.every(Number.isSafeInteger)).toBe(true);
      expect([written, rowsIn("news_lives_1"), numbers[0]]).toEqual([3, 1, 5 * 2 ** 20 + 1]);
    });
  });

  test("grow although all else was deleted between two lives, by a clock that is set back", async ({
    expect,
  }) => {
    await withSql(async ({ sql, rowsIn, deleteAll }) => {
      sql.exec("CREATE TABLE other (id INTEGER)");
      await deleteAllButNumbers(sql, deleteAll);
      expect(rowsIn("sqlite_master")).toBe(0); // there was nothing to keep
      let last = new NewsNumbers(sql, () => 1_000_000).next();
      for (const ms of [1_000_000, 1_000_000, 0]) {
        sql.exec("CREATE TABLE other (id INTEGER)");
        await deleteAllButNumbers(sql, deleteAll);
        expect([rowsIn("sqlite_master"), rowsIn("news_lives_1")]).toEqual([1, 1]);
        const next = new NewsNumbers(sql, () => ms).next();
        expect(next).toBeGreaterThan(last);
        last = next;
      }
      expect(Number.isSafeInteger(new NewsNumbers(sql, () => Date.UTC(2240, 0)).next())).toBe(true);
    });
  });

  test("go on in another life when those of one are used up", async ({ expect }) => {
    await withSql(({ sql }) => {
      const numbers = new NewsNumbers(sql, () => 5000);
      let last = 0;
      let isGrowing = true;
      for (let n = 0; n < 2 ** 20 + 1; n++) {
        const next = numbers.next();
        isGrowing &&= next > last;
        last = next;
      }
      expect([isGrowing, last]).toEqual([true, 6 * 2 ** 20 + 2]);
    });
  });
});

describe("an interest", () => {
  test("is stored once it has an answer, and deleted when it is withdrawn", async ({ expect }) => {
    await withSql(({ sql, rowsIn }) => {
      const wanted = new TopicInterest(sql);
      wanted.ask(1, "uri:a");
      wanted.ask(2, "uri:a");
      wanted.ask(1, "tools");
      expect([rowsIn("wanted_1"), wanted.countAtStake, wanted.uris.has("a")]).toEqual([0, 2, true]);
      wanted.answer(1, "uri:a", "promised");
      wanted.answer(1, "tools", "unpromised");
      expect([rowsIn("wanted_1"), wanted.countAtStake]).toEqual([2, 1]);
      const next = new TopicInterest(sql);
      // What had no answer is asked for again by whoever wants it.
      expect([...next.branchesOf("uri:a")]).toEqual([1]);
      expect([next.countAtStake, next.has("tools"), next.isPromised("tools")]).toEqual([
        1,
        true,
        false,
      ]);
      expect(next.promised()).toEqual(["uri:a"]);
      expect([next.remove(1, "uri:a"), next.remove(1, "uri:a"), next.remove(2, "tools")]).toEqual([
        true,
        false,
        false,
      ]);
      expect([next.countAtStake, next.uris.size, rowsIn("wanted_1")]).toEqual([0, 0, 1]);
      expect([...new TopicInterest(sql).branchesOf("tools")]).toEqual([1]);
    });
  });

  test("is promised until a later answer says that it is not", async ({ expect }) => {
    await withSql(({ sql }) => {
      const wanted = new TopicInterest(sql);
      for (const branch of [1, 2]) {
        wanted.ask(branch, "tools");
        wanted.answer(branch, "tools", "promised");
      }
      // Asking again for what is promised does not put it in doubt.
      wanted.ask(1, "tools");
      expect(wanted.isPromised("tools")).toBe(true);
      for (const branch of [1, 2]) wanted.answer(branch, "tools", "unpromised");
      for (const found of [wanted, new TopicInterest(sql)]) {
        expect([found.isPromised("tools"), found.countAtStake]).toEqual([false, 0]);
        expect([...found.branchesOf("tools")]).toEqual([1, 2]);
      }
    });
  });
});

function counts(of: TopicInterest): readonly number[] {
  return [of.uriChars, of.uriCountOf(1), of.uriCountOf(2)];
}

describe("the resources of interest", () => {
  test("is counted by branch, and by character", async ({ expect }) => {
    await withSql(({ sql }) => {
      const wanted = new TopicInterest(sql);
      wanted.ask(1, "uri:abc");
      wanted.ask(1, "uri:abc");
      wanted.ask(2, "uri:abc");
      wanted.ask(1, "tools");
      wanted.ask(1, "uri:de");
      wanted.answer(1, "uri:abc", "promised");
      expect(counts(wanted)).toEqual([5, 2, 1]);
      expect(counts(new TopicInterest(sql))).toEqual([3, 1, 0]);
      wanted.remove(1, "uri:abc");
      wanted.remove(1, "uri:de");
      expect(counts(wanted)).toEqual([3, 0, 1]);
      wanted.remove(2, "uri:abc");
      wanted.remove(2, "uri:abc");
      expect(counts(wanted)).toEqual([0, 0, 0]);
    });
  });
});

describe("wantedUriOf()", () => {
  const WANTED = new Set(["file:///a", "file:///a/b", "file:///dir/", "x://", "file:///a?q"]);
  test.for([
    ["file:///a", "file:///a"],
    ["file:///a/", "file:///a"],
    ["file:///a/c", "file:///a"],
    ["file:///a/b/c/d", "file:///a/b"],
    ["file:///a#part", "file:///a"],
    ["file:///a?q", "file:///a?q"],
    ["file:///a?other", "file:///a"],
    ["file:///dir/x/y", "file:///dir/"],
    ["file:///dir", undefined],
    ["file:///ab", undefined],
    ["file:///", undefined],
    ["x://anything", "x://"],
    ["", undefined],
    ["/".repeat(100_000), undefined],
    [`file:///a${"/b".repeat(100)}`, undefined],
  ] as const)("finds for %s: %s", ([uri, found], { expect }) => {
    expect(wantedUriOf(uri, WANTED)).toBe(found);
  });

  test("never finds what is not wanted, or what the URI does not begin with", ({ expect }) => {
    const part = fc.constantFrom("a", "b", "/", "#", "?", "://");
    const uri = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(uri, fc.array(uri, { maxLength: 6 }), (said, list) => {
        const wanted = new Set(list);
        const found = wantedUriOf(said, wanted);
        if (found === undefined) {
          expect(wanted.has(said)).toBe(false);
          return;
        }
        expect(wanted.has(found) && said.startsWith(found)).toBe(true);
        if (wanted.has(said)) expect(found).toBe(said);
      }),
    );
  });
});
