/** Texts of others: names of one short line, and prose, with visible characters alone. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { cleanProse, cleanText } from "../../../src/lib/clean-text.ts";

const CASES: readonly (readonly [name: string, given: string, expected: string])[] = [
  ["a name as most are", "Claude Code", "Claude Code"],
  ["other scripts and symbols", "Ünïcode 東京 مرحبا 🚀", "Ünïcode 東京 مرحبا 🚀"],
  ["markup, which is not its to escape", `<b>"x"</b>&`, `<b>"x"</b>&`],
  ["characters that reverse the text", "safe\u202Eevil\u2066x\u2069\u200Fy", "safeevilxy"],
  ["characters of no width", "Cl\u200Bau\u200Dde\uFEFF\u00AD", "Claude"],
  ["tags and private use", "A\u{E0041}\u{E007F}\uE000B", "AB"],
  ["control characters", "a\u0000b\u001B[31mc\u007F\u009D", "ab[31mc"],
  ["halves of characters", "a\uD83Db\uDE80", "ab"],
  ["lines and tabs", " one\r\n\ttwo\u2028three\u00A0\u3000four ", "one two three four"],
  ["letters that draw nothing", "\u3164\u115F\u1160\u2800\uFFA0", ""],
  ["blanks between which something was removed", "a \u200B \u200B b", "a b"],
  ["a pile of marks", `a\u0301${"\u0316".repeat(50)}`, "\u00E1\u0316\u0316\u0316"],
  ["nothing", "", ""],
];

describe("cleanText()", () => {
  test.for(CASES)("%s", ([, given, expected], { expect }) => {
    expect(cleanText(given)).toBe(expected);
  });

  test("truncates at 80 characters, and marks the text as truncated", ({ expect }) => {
    expect(cleanText("x".repeat(80))).toBe("x".repeat(80));
    expect(cleanText("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
    expect(cleanText("🚀".repeat(81))).toBe(`${"🚀".repeat(79)}…`);
    expect(cleanText("ab cd", 4)).toBe("ab…");
  });

  test("does the same to plain text whether it looks through it or not", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "Z", "0", "<", "~", " "), maxLength: 90 }),
        (text) => {
          // What is removed again makes it look.
          expect(cleanText(text)).toBe(cleanText(`${text}\u200B`));
        },
      ),
    );
  });

  test("leaves one visible line of any text, and does no more to it the second time", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const clean = cleanText(text);
        expect(Array.from(clean).length).toBeLessThanOrEqual(80);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|^\s|\s$|\s{2}/u);
        expect(cleanText(clean)).toBe(clean);
      }),
    );
  });
});

const PROSE: readonly (readonly [name: string, given: string, expected: string])[] = [
  ["lines and tabs", "One\n\ttwo\n\nthree", "One\n\ttwo\n\nthree"],
  ["the line ends of other systems", "a\r\nb\rc\u2028d\u2029e\u0085f", "a\nb\nc\nd\ne\nf"],
  ["other scripts and symbols", "Ünïcode 東京 مرحبا 🚀", "Ünïcode 東京 مرحبا 🚀"],
  ["what shapes the letters of a word", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"],
  ["what joins emoji", "👩🏽\u200d💻 🏳\uFE0F\u200d🌈 ❤\uFE0F", "👩🏽\u200d💻 🏳\uFE0F\u200d🌈 ❤\uFE0F"],
  ["joiners with nothing to join", "\u200da\u200cb 1\u200d2 ب\u200c", "ab 12 ب"],
  ["control characters", "a\u0000\u0008b\u001B[2Kc\u007F\u009D", "ab[2Kc"],
  ["characters that reverse the text", "safe\u202Eevil\u2066x\u2069\u200Fy", "safeevilxy"],
  [
    "characters of no width, tags, private use and halves",
    "a\u200B\uFEFF\u{E0041}\uE000\uD83Db",
    "ab",
  ],
  ["letters that draw nothing", "a\u3164b\u2800c", "a b c"],
  ["a pile of marks", `a${"\u0316".repeat(50)}`, "a\u0316\u0316\u0316"],
  ["lines that push all before them away", `a${"\n \u200B".repeat(99)}\nb`, "a\n\n\nb"],
];

describe("cleanProse()", () => {
  test.for(PROSE)("%s", ([, given, expected], { expect }) => {
    expect(cleanProse(given)).toBe(expected);
  });

  test("does no more to any text the second time", ({ expect }) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const clean = cleanProse(text);
        expect(clean).not.toMatch(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/u);
        expect(cleanProse(clean)).toBe(clean);
      }),
    );
  });
});
