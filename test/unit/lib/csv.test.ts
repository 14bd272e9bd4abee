/** Lines for spreadsheets, in which no text of a stranger becomes a formula. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { csvLine } from "../../../src/lib/csv.ts";

describe("a line of comma-separated values", () => {
  test.for([
    ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["\r=1", `"'\r=1"`],
    ["=1,2", `"'=1,2"`],
    ['say "hi"', '"say ""hi"""'],
    ["a\nb", '"a\nb"'],
    ["plain", "plain"],
  ] as const)("%j", ([cell, written], { expect }) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`);
  });

  test("has numbers as they are", ({ expect }) => {
    expect(csvLine([-1, 2.5, "x"])).toBe("-1,2.5,x\r\n");
  });

  test("never begins a cell like a formula, inside quotes or not", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(csvLine([text])).not.toMatch(/^"?[=+\-@\t\r](?!\n$)/);
      }),
    );
  });
});
