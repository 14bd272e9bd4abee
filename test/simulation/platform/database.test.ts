/** A database that another life has used is as good as new. */

import { describe, expect, it } from "vitest";

import { Database } from "./database.ts";

const TABLE = "CREATE TABLE IF NOT EXISTS notes_1 (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT)";
const INDEX = "CREATE UNIQUE INDEX IF NOT EXISTS notes_1_text ON notes_1 (text)";
const OTHER = "CREATE TABLE IF NOT EXISTS notes_1 (text TEXT PRIMARY KEY) WITHOUT ROWID";
const ADD = "INSERT INTO notes_1 (text) VALUES (?)";
const ALL = "SELECT * FROM notes_1";
const TABLES = "SELECT name FROM sqlite_master WHERE type = ?";

/** @returns a database that another life has left with a row in it. */
function used(className: string): Database {
  const first = Database.of(className);
  for (const statement of [TABLE, INDEX]) first.run(statement, []);
  first.run(ADD, ["first"]);
  first.close();
  const second = Database.of(className);
  expect(second).toBe(first);
  return second;
}

describe("a database that was used", () => {
  it("has no table until it is made", () => {
    const database = used("A");
    expect(() => database.run(ALL, [])).toThrow("no such table: notes_1");
    expect(database.run(TABLES, ["table"])).not.toContainEqual({ name: "notes_1" });
  });

  it("has the table that is made empty, and counts from one", () => {
    const database = used("B");
    for (const statement of [TABLE, INDEX]) database.run(statement, []);
    expect(database.run(ALL, [])).toEqual([]);
    database.run(ADD, ["second"]);
    expect(database.run(ALL, [])).toEqual([{ n: 1, text: "second" }]);
    expect(() => database.run(ADD, ["second"])).toThrow("UNIQUE");
  });

  it("makes a table of the same name anew where it has other columns", () => {
    const database = used("C");
    database.run(OTHER, []);
    database.run(ADD, ["second"]);
    expect(database.run(ALL, [])).toEqual([{ text: "second" }]);
    database.run(INDEX, []);
    expect(database.run(TABLES, ["index"])).toContainEqual({ name: "notes_1_text" });
  });

  it("has no table that a transaction made and undid", () => {
    const database = used("D");
    expect(() =>
      database.transaction(() => {
        database.run(TABLE, []);
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(() => database.run(ALL, [])).toThrow("no such table: notes_1");
  });

  it("refuses a table that is there already", () => {
    const database = used("E");
    const make = "CREATE TABLE notes_2 (text TEXT)";
    database.run(make, []);
    expect(() => database.run(make, [])).toThrow("already exists");
  });

  it("is used by nobody else after several statements at once", () => {
    const first = Database.of("F");
    first.runScript("CREATE TABLE one (n); CREATE TABLE two (n)");
    first.close();
    expect(Database.of("F")).not.toBe(first);
  });
});
