/** A bound on maps and sets that are kept in memory. */

import { describe, test } from "vitest";

import { dropOldest } from "../../../src/lib/drop-oldest.ts";

describe("dropOldest()", () => {
  test("drops the entries that were added first, down to the bound", ({ expect }) => {
    const entries = new Map(["a", "b", "c", "d"].map((key) => [key, 0]));
    entries.delete("a");
    entries.set("a", 1);
    dropOldest(entries, 2);
    expect([...entries.keys()]).toEqual(["d", "a"]);
  });

  test("leaves a set that is within the bound", ({ expect }) => {
    const entries = new Set([1, 2]);
    dropOldest(entries, 2);
    expect([...entries]).toEqual([1, 2]);
  });
});
