/** Refresh tokens that were replaced are known again, for as long as their grant lasts. */

import { test } from "vitest";

import { KvRows } from "../../../../../src/auth/store/kv-rows.ts";
import { Grants } from "../../../../../src/auth/oauth/grants/grants.ts";
import { START, withSql } from "../../../lib/sql-fixture.ts";

const YEAR = 366 * 86_400_000;

test("a retired token is known for its own grant, and for no other", async ({ expect }) => {
  await withSql(({ sql, clock }) => {
    const { retired } = new Grants(new KvRows(sql), sql, () => clock.now);
    retired.retire("grant:u:1", ["h1", "h2"]);
    retired.retire("grant:u:1", ["h1"]);
    retired.retire("grant:u:1", []);
    const known = ["h1", "h2", "h3"].map((hash) => retired.has("grant:u:1", hash));
    expect([known, retired.has("grant:u:2", "h1")]).toEqual([[true, true, false], false]);
  });
});

test("of each grant, the newest thousand are kept", async ({ expect }) => {
  await withSql(({ sql, clock, rowsIn }) => {
    const { retired } = new Grants(new KvRows(sql), sql, () => clock.now);
    retired.retire("grant:u:2", ["other"]);
    for (let n = 0; n < 1010; n++) {
      clock.now += 1;
      retired.retire("grant:u:1", [`h${n}`]);
    }
    expect(rowsIn("retired_1")).toBe(1001);
    const known = [0, 9, 10, 1009].map((n) => retired.has("grant:u:1", `h${n}`));
    expect(known).toEqual([false, false, true, true]);
    expect(retired.has("grant:u:2", "other")).toBe(true);
  });
});

test("they go with a grant that has expired", async ({ expect }) => {
  await withSql(({ sql, clock, rowsIn }) => {
    const rows = new KvRows(sql, () => clock.now);
    const grants = new Grants(rows, sql, () => clock.now);
    const expiresAt = START / 1000 + 60;
    rows.put("grant:u:1", "{}", { expiresAt });
    rows.put("grant:u:2", "{}", { expiresAt: expiresAt + 60 });
    for (const grant of ["1", "2"]) {
      grants.retired.retire(`grant:u:${grant}`, [`h${grant}a`, `h${grant}b`]);
      grants.used("u", grant);
    }
    clock.now += 60_000;
    rows.sweep();
    grants.sweep();
    expect([rowsIn("retired_1"), rowsIn("grant_use_1")]).toEqual([2, 1]);
    expect(grants.retired.has("grant:u:2", "h2a")).toBe(true);
  });
});

test("they end with their grant, and a year after it was used last", async ({ expect }) => {
  await withSql(({ sql, clock, rowsIn }) => {
    const rows = new KvRows(sql, () => clock.now);
    const grants = new Grants(rows, sql, () => clock.now);
    rows.put("grant:u:1", "{}");
    for (const grant of ["1", "2"]) grants.retired.retire(`grant:u:${grant}`, [`h${grant}`]);
    expect(grants.revoke("u", "1")).toBe(true);
    expect([grants.retired.has("grant:u:1", "h1"), rowsIn("retired_1")]).toEqual([false, 1]);
    clock.now = START + YEAR - 1;
    grants.sweep();
    expect(grants.retired.has("grant:u:2", "h2")).toBe(true);
    clock.now = START + YEAR;
    grants.sweep();
    expect(rowsIn("retired_1")).toBe(0);
  });
});
