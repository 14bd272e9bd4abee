/** The tables of a part: made when there are none, and left alone if a later version has written them. */

import { describe, test } from "vitest";

import { Records } from "../../../src/lib/records.ts";
import type { Sql } from "../../../src/lib/sql.ts";
import { withSql } from "./sql-fixture.ts";

class Teas extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS teas_2 (name TEXT PRIMARY KEY)",
    "CREATE INDEX IF NOT EXISTS teas_2_name ON teas_2 (name)",
  ];
  add(name: string): void {
    this.run("INSERT INTO teas_2 VALUES (?)", [name]);
  }
}

class CarriedTeas extends Teas {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS teas_1 (name TEXT PRIMARY KEY)",
    ...Teas.SCHEMA,
    "INSERT INTO teas_2 SELECT name FROM teas_1",
    "DELETE FROM teas_1",
  ];
}

/** As `meteredSql` gives one to each life of an object. */
const inNextLife = (sql: Sql): Sql => ({ exec: (...args) => sql.exec(...args) });

describe("the tables of a part", () => {
  test("are made once, and found again", ({ expect }) =>
    withSql(({ sql, rowsIn }) => {
      new Teas(inNextLife(sql)).add("oolong");
      new Teas(inNextLife(sql)).add("matcha");
      expect(rowsIn("teas_2")).toBe(2);
    }));

  test("may stand beside those of an earlier layout, and of other parts", ({ expect }) =>
    withSql(({ sql }) => {
      for (const name of ["teas_1", "teas_3rd", "green_teas_3", "teas_2_old_9"]) {
        sql.exec(`CREATE TABLE ${name} (name TEXT)`);
      }
      expect(() => new Teas(sql)).not.toThrow();
    }));

  test("take the rows of an earlier layout, once", ({ expect }) =>
    withSql(({ sql, rowsIn }) => {
      sql.exec("CREATE TABLE teas_1 (name TEXT PRIMARY KEY)");
      sql.exec("INSERT INTO teas_1 VALUES ('sencha')");
      new CarriedTeas(inNextLife(sql)).add("oolong");
      new CarriedTeas(inNextLife(sql)).add("matcha");
      expect([rowsIn("teas_1"), rowsIn("teas_2")]).toEqual([0, 3]);
    }));

  test("are not made beside those of a later layout, which hold the rows", ({ expect }) =>
    withSql(({ sql }) => {
      sql.exec("CREATE TABLE teas_10 (name TEXT)");
      expect(() => new Teas(sql)).toThrow(
        "A later version of Edgeway has written teas_10, and this one knows teas_2. Deploy that version again.",
      );
      const made = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'teas_2'");
      expect([...made]).toEqual([]);
    }));
});
