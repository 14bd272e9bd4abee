/** Patterns of names: what they match, against a matcher that is plainly right, and at what price. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { Glob } from "../../../src/policy/glob.ts";

const ROWS = [
  { pattern: "", matches: [""], not: ["a"] },
  { pattern: "get", matches: ["get"], not: ["", "ge", "gets", "Get", "get\n"] },
  { pattern: "*", matches: ["", "a", "a\nb", "\ud800", "😀😀"], not: [] },
  { pattern: "**", matches: ["", "abc"], not: [] },
  { pattern: "?", matches: ["a", "?", "*", "\n", "é", "😀", "\udfff"], not: ["", "ab", "e\u0301"] },
  { pattern: "??", matches: ["ab", "😀a"], not: ["😀", "a"] },
  { pattern: "get_*", matches: ["get_", "get_a", "get_a_b"], not: ["get", "forget_a", "GET_a"] },
  { pattern: "*_get", matches: ["_get", "a_get", "a_get_get"], not: ["get", "a_gets"] },
  { pattern: "a*b*c", matches: ["abc", "a-b-c", "abcbc", "aabbcc"], not: ["ac", "acb", "abcd"] },
  { pattern: "a*?", matches: ["ab", "abc", "a😀"], not: ["a", "b"] },
  { pattern: "*?*", matches: ["a", "😀"], not: [""] },
  { pattern: "a.b", matches: ["a.b"], not: ["axb"] },
  { pattern: "[a-z]+", matches: ["[a-z]+"], not: ["a", "aa"] },
  { pattern: "\\*", matches: ["\\", "\\x"], not: ["*"] },
  { pattern: "{a,b}$", matches: ["{a,b}$"], not: ["a", "b"] },
  { pattern: "file:///*/x", matches: ["file:///a/b/x", "file:////x"], not: ["file:///x"] },
  { pattern: "é", matches: ["é"], not: ["e\u0301", "É"] },
  { pattern: "\ud83d*", matches: ["\ud83d", "\ud83da"], not: ["😀"] },
  { pattern: "*\ude00", matches: ["\ude00", "a\ude00"], not: ["😀"] },
];

// Halves of characters would not come through to the reporter: they are escaped.
test.for(ROWS.map((row) => ({ ...row, title: JSON.stringify(row.pattern) })))(
  "$title",
  ({ pattern, matches, not }, { expect }) => {
    const glob = new Glob(pattern);
    for (const name of matches) expect(glob.matches(name), JSON.stringify(name)).toBe(true);
    for (const name of not) expect(glob.matches(name), JSON.stringify(name)).toBe(false);
  },
);

test.for([
  { pattern: "", isLiteral: true, isEverything: false },
  { pattern: "get", isLiteral: true, isEverything: false },
  { pattern: "g?t", isLiteral: false, isEverything: false },
  { pattern: "get*", isLiteral: false, isEverything: false },
  { pattern: "*", isLiteral: false, isEverything: true },
  { pattern: "**", isLiteral: false, isEverything: true },
  { pattern: "?*", isLiteral: false, isEverything: false },
])("$pattern is literal: $isLiteral, everything: $isEverything", (row, { expect }) => {
  expect(new Glob(row.pattern)).toMatchObject(row);
});

/** By the definition, and in exponential time. */
function matchesPlainly([wanted, ...pattern]: string[], name: readonly string[]): boolean {
  const [char, ...rest] = name;
  if (wanted === undefined) return char === undefined;
  if (wanted === "*") {
    return (
      matchesPlainly(pattern, name) ||
      (char !== undefined && matchesPlainly([wanted, ...pattern], rest))
    );
  }
  return char !== undefined && (wanted === "?" || wanted === char) && matchesPlainly(pattern, rest);
}

const few = (...chars: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...chars), { maxLength: 7 }).map((picked) => picked.join(""));

describe("for any pattern and name", () => {
  test("it is as defined", ({ expect }) => {
    const pattern = few("a", "b", "*", "?", "😀", "\ud83d");
    const name = few("a", "b", "A", "😀", "\ud83d", "\ude00");
    fc.assert(
      fc.property(pattern, name, (pattern, name) => {
        expect(new Glob(pattern).matches(name)).toBe(
          matchesPlainly(Array.from(pattern), Array.from(name)),
        );
      }),
      { numRuns: 5000 },
    );
  });

  test("a name matches itself, and with a star anywhere in it", ({ expect }) => {
    const name = fc.string({ unit: "binary", maxLength: 40 });
    fc.assert(
      fc.property(name, name, name, (a, b, c) => {
        expect(new Glob(`${a}*${c}`).matches(`${a}${b}${c}`)).toBe(true);
        const literal = `${a}${b}`.replaceAll(/[*?]/g, "");
        expect(new Glob(literal).matches(literal)).toBe(true);
      }),
    );
  });
});

test("no pattern takes long for a hostile name", ({ expect }) => {
  // A backtracking matcher needs years for it; the worst case here is 256 x 10,000 steps.
  const name = "a".repeat(10_000);
  for (const pattern of ["*a".repeat(100) + "b", `*${"a".repeat(250)}b*`, `${"?*".repeat(120)}b`]) {
    expect(new Glob(pattern).matches(name)).toBe(false);
  }
});
