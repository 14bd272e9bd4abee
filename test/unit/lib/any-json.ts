/** Any JSON text, with numbers in every form that JSON has, and what it says. */

import * as fc from "fast-check";

/** Integers of any size, fractions, exponents; those that JavaScript writes otherwise among them. */
export const numberText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9]\d{0,25}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,20}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][+-]?\d{1,4}$/)),
  )
  .map((parts) => parts.join(""));

const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n");
const stringText = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"1.0"', '"\\\\"', '"\\\\\\""', '"\\u0031e400"', '"[1.0,"', '"\\/\\ud800"'),
);
/** Letters only: an object of JavaScript has its integers first. */
const keyText = fc.oneof(
  fc.stringMatching(/^[a-z]{1,5}$/).map((key) => JSON.stringify(key)),
  fc.constantFrom('"__proto__"', '"constructor"', '"toJSON"', '"rawJSON"', '"\\u00e9"', '""'),
);

/** Texts of JSON. Keys are unique in each object. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(numberText, stringText, fc.constantFrom("true", "false", "null")),
    fc.array(tie("value"), { maxLength: 5 }).map((list) => `[${list.join(",")}]`),
    fc
      .uniqueArray(fc.tuple(keyText, space, tie("value")), {
        maxLength: 5,
        selector: ([key]) => JSON.parse(key) as string,
      })
      .map((members) => {
        const texts = members.map(([key, blank, value]) => `${key}${blank}:${blank}${value}`);
        return `{${texts.join(",")}}`;
      }),
  ),
})).value;

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"]/gs;

/** The text without its space, and with each string as JavaScript writes it: what may differ between equal texts. */
export function plainText(text: string): string {
  return text
    .replaceAll(TOKEN, (token) =>
      token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
    )
    .replaceAll(/("(?:[^"\\]|\\.)*")|\s+/gs, "$1");
}
