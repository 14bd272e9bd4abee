/** Names with characters of every category that Unicode has. */

import { describe, test } from "vitest";

import { Naming } from "../../../../src/catalog/names/naming.ts";
import { alone, meeting, publicName, serverOf, shown } from "./naming-fixture.ts";

/** General categories, and some characters of each: the plain, the wide, the odd. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Lu: "AÀΩЖ𝐀",
  Ll: "zßжﬁ𝓏",
  Lt: "ǅῼ",
  Lm: "ʰー々",
  Lo: "ªאعक中ㅤ𠀀",
  Mn: "\u0301\ufe0f\u{e0100}",
  Mc: "\u0903\u{1d165}",
  Me: "\u20dd\u0488",
  Nd: "0٣９𝟗",
  Nl: "Ⅷ〇",
  No: "²½①",
  Pc: "_‿＿",
  Pd: "-–—",
  Ps: "([「",
  Pe: ")]」",
  Pi: "«“",
  Pf: "»”",
  Po: "!./\\*?#%&:;@'\"",
  Sm: "+<=>|~∑",
  Sc: "$€₿",
  Sk: "^`´\u{1f3fb}",
  So: "©°�😀",
  Zs: " \u00a0\u3000",
  Zl: "\u2028",
  Zp: "\u2029",
  Cc: "\0\t\n\r\x1b\x7f\x85",
  Cf: "\u00ad\u200b\u200d\u202e\u2066\ufeff\u{e0041}",
  Co: "\ue000\u{f0000}",
  Cn: "\u0378\uffff\u{10ffff}",
  Cs: "\udc00\udfff\ud800\udbff",
};

const endpoint = meeting({ slug: "docs" }, { slug: "bare", prefix: "" });
const docs = serverOf(endpoint, "docs");
const bare = serverOf(endpoint, "bare");
const naming = new Naming(endpoint, 45);
const rows = Object.entries(CATEGORIES).map(([category, chars]) => ({
  category,
  chars: Array.from(chars),
}));

describe("characters of the category", () => {
  test.for(rows)("$category", ({ category, chars }, { expect }) => {
    const isOfIt = new RegExp(`^\\p{${category}}$`, "u");
    for (const char of chars) {
      expect(isOfIt.test(char), shown(char)).toBe(true);
      for (const name of [char, `a${char}`, `${char}a`, `a${char}b`, char.repeat(70)]) {
        for (const server of [docs, bare]) {
          const called = publicName(naming, server, name);
          expect(called, shown(name)).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,44}$/);
          const located = naming.locate("tools", called);
          expect(located.kind === "unknown" ? undefined : located.server.slug).toBe(server.slug);
        }
        const single = alone({ slug: "docs" });
        const exact = new Naming(single, 45);
        expect(shown(publicName(exact, single.servers[0], name))).toBe(shown(name));
        expect(shown(exact.locate("tools", name))).toBe(
          shown({ kind: "plain", server: single.servers[0], name }),
        );
      }
    }
  });

  test("are complete", ({ expect }) => {
    const names = rows.flatMap(({ chars }) => chars);
    const uncovered = new RegExp(
      `^[${Object.keys(CATEGORIES)
        .map((c) => `\\p{${c}}`)
        .join("")}]$`,
      "u",
    );
    // Every code point, one of each 61: none is of a category that is not listed.
    for (let code = 0; code <= 0x10ffff; code += 61) {
      expect(uncovered.test(String.fromCodePoint(code)), String(code)).toBe(true);
    }
    const called = naming.publicNames(docs, "tools", names);
    expect(new Set(called.values()).size).toBe(new Set(names).size);
  });
});

test("spellings that look alike are different names", ({ expect }) => {
  // Composed and not, Latin and Cyrillic, wide and not, with a mark that cannot be seen and without.
  const alike = [
    "é",
    "e\u0301",
    "e",
    "a",
    "а",
    "ａ",
    "a\u200b",
    "A",
    "ﬁ",
    "fi",
    "\ud800",
    "\udbff",
    "\ufffd",
  ];
  const called = naming.publicNames(docs, "tools", alike);
  expect(new Set(called.values()).size).toBe(alike.length);
});
