/** Which URIs fit a template. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { UriTemplate } from "../../../../src/catalog/uris/uri-template.ts";

function fits(template: string, uri: string): boolean {
  return UriTemplate.parse(template)?.matches(uri) ?? false;
}

interface Case {
  readonly template: string;
  readonly yes: readonly string[];
  readonly no?: readonly string[];
}

const CASES: readonly Case[] = [
  { template: "a://b", yes: ["a://b"], no: ["a://bc", "a://", "xa://b", "A://b", ""] },
  // Level 1.
  {
    template: "file:///{name}",
    yes: ["file:///a.txt", "file:///", "file:///a%2Fb", "file:///a b"],
  },
  {
    template: "file:///{name}",
    yes: [],
    no: ["file:///a/b", "file:///a?b", "file:///a#b", "file://a"],
  },
  {
    template: "db://{t}/rows/{id}",
    yes: ["db://users/rows/7"],
    no: ["db://users/7", "db://a/b/rows/7"],
  },
  // Level 2.
  {
    template: "file:///{+path}",
    yes: ["file:///a/b/c", "file:///a?b#c", "file:///"],
    no: ["http:///a"],
  },
  { template: "a:{#part}", yes: ["a:#x/y", "a:#", "a:"], no: ["a:x", "a:/#x"] },
  // Level 3.
  { template: "map?{x,y}", yes: ["map?1024,768", "map?"], no: ["map?a/b"] },
  { template: "{+x,y}/here", yes: ["/1/2,b/here", "/here"], no: ["/here/x"] },
  { template: "X{.a,b}", yes: ["X.1.2", "X"], no: ["X1", "X.1/2"] },
  {
    template: "a:/b{/x,y}/c",
    yes: ["a:/b/1/2/c", "a:/b/1/c", "a:/b/c"],
    no: ["a:/b1/c", "a:/b/1?/c"],
  },
  { template: "a:/b{/x}/c", yes: ["a:/b/1/c", "a:/b/c"], no: ["a:/b/1/2/c"] },
  { template: "a:p{;x,y}", yes: ["a:p;x=1;y=2", "a:p;x", "a:p"], no: ["a:px=1"] },
  { template: "a:p{?q,n}", yes: ["a:p?q=1&n=2", "a:p?n=/2", "a:p"], no: ["a:p&q=1", "a:p?q=1#f"] },
  { template: "a:p?f=1{&q}", yes: ["a:p?f=1&q=2", "a:p?f=1"], no: ["a:p?f=1q=2", "a:p?q=2&f=1"] },
  // Modifiers are of level 4, and in use.
  { template: "a:{/path*}", yes: ["a:/1/2/3", "a:"], no: ["a:1"] },
  { template: "a:{name:3}{?list*}", yes: ["a:abc?x=1&y=2"] },
  // A variable that takes anything must leave enough for what follows.
  { template: "{+a}/{b}", yes: ["x/y/z", "/"], no: ["xyz"] },
  { template: "{+a}.{b}.{+c}", yes: ["1.2.3.4/5", "a/b.c.d"], no: ["a/b.c/d"] },
  { template: "a{x}{+y}{z}b", yes: ["ab", "a/?#b", "abbb"], no: ["ba"] },
  // What a URI cannot carry is escaped on expansion, by some.
  { template: "a:/mün chen/{x}", yes: ["a:/mün chen/1", "a:/m%C3%BCn%20chen/1"] },
  { template: "a:/100%25/{x}", yes: ["a:/100%25/1"], no: ["a:/100%2525/1"] },
];

describe("a template", () => {
  test.for(CASES)("$template", ({ template, yes, no = [] }, { expect }) => {
    expect(yes.filter((uri) => !fits(template, uri))).toEqual([]);
    expect(no.filter((uri) => fits(template, uri))).toEqual([]);
  });

  test.for(["a{", "a}", "a{}", "a{x", "a{{x}}", "{x,}", "{=x}", "{!x}", "{|x}", "{x:y}", "{*}"])(
    "%s is invalid",
    (text, { expect }) => {
      expect(UriTemplate.parse(text)).toBe(undefined);
    },
  );

  test("with very many expressions is not matched", ({ expect }) => {
    expect(UriTemplate.parse("{a}/".repeat(8))).not.toBe(undefined);
    expect(UriTemplate.parse("{a}/".repeat(9))).toBe(undefined);
  });

  test(
    "takes a bounded time, even if it is written to cost time",
    { timeout: 5000 },
    ({ expect }) => {
      const template = UriTemplate.parse(`${"{+a}a".repeat(8)}b`);
      const uri = "a".repeat(20_000);
      expect(template?.matches(uri)).toBe(false);
      expect(template?.matches(`${uri}b`)).toBe(true);
      expect(template?.costOf(uri)).toBeGreaterThan(0);
    },
  );
});

/** What expands one value, by the operator (RFC 6570, 3.2). */
const EXPANSIONS: Readonly<Record<string, (value: string) => string>> = {
  "": encodeURIComponent,
  "+": encodeURI,
  "#": (value) => `#${encodeURI(value)}`,
  ".": (value) => `.${encodeURIComponent(value)}`,
  "/": (value) => `/${encodeURIComponent(value)}`,
  ";": (value) => `;v=${encodeURIComponent(value)}`,
  "?": (value) => `?v=${encodeURIComponent(value)}`,
  "&": (value) => `&v=${encodeURIComponent(value)}`,
};

describe("every expansion", () => {
  const piece = fc.oneof(
    fc.record({ literal: fc.stringMatching(/^[ab:/.?&#;=\-%20é ]{0,10}$/) }),
    fc.record({
      operator: fc.constantFrom(...Object.keys(EXPANSIONS)),
      value: fc.option(fc.string({ unit: "grapheme", maxLength: 8 })),
    }),
  );

  test("fits its template", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        let template = "";
        let uri = "";
        for (const one of pieces) {
          if ("literal" in one) {
            template += one.literal;
            uri += one.literal;
            continue;
          }
          template += `{${one.operator}v}`;
          // A variable without a value leaves nothing behind.
          if (one.value !== null) uri += EXPANSIONS[one.operator]?.(one.value.toWellFormed()) ?? "";
        }
        expect(fits(template, uri)).toBe(true);
      }),
    );
  });

  test("with another beginning does not fit it", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), (rest) => {
        expect(fits("mine://{+x}", `yours://${rest}`)).toBe(false);
      }),
    );
  });
});
