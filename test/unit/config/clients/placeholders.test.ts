/** Placeholders for secrets, in every client's spelling. */

import { describe, test } from "vitest";

import { fillIn, hasPlaceholder, secretsIn } from "../../../../src/config/clients/placeholders.ts";

const ENV = { TOKEN: "t$&1", GITHUB_TOKEN: "g", "small-id": "s", EMPTY: "", OBJECT: {} };

function filled(template: string): { text: string; mistakes: string[] } {
  const mistakes: string[] = [];
  return { text: fillIn(template, ENV, (mistake) => mistakes.push(mistake)), mistakes };
}

describe("a placeholder", () => {
  test.for([
    ["Bearer ${TOKEN}", "Bearer t$&1"],
    ["Bearer ${env:TOKEN}", "Bearer t$&1"],
    ["Bearer {env:TOKEN}", "Bearer t$&1"],
    ["${input:github-token}", "g"],
    ["${input:github_token}", "g"],
    ["${input:small-id}", "s"],
    ["${NOPE:-eu-1}", "eu-1"],
    ["${NOPE:-}", ""],
    ["${TOKEN:-eu-1}", "t$&1"],
    ["${EMPTY:-usual}", "usual"],
    ["${TOKEN}${GITHUB_TOKEN}", "t$&1g"],
    ["$TOKEN {TOKEN} $ {TOKEN} {input:x}", "$TOKEN {TOKEN} $ {TOKEN} {input:x}"],
  ] as const)("%s is filled in", ([template, text], { expect }) => {
    expect(filled(template)).toEqual({ text, mistakes: [] });
  });

  test.for([
    ["${NOPE}", 'the secret "NOPE" is not set'],
    ["${EMPTY}", 'the secret "EMPTY" is not set'],
    ["${OBJECT}", 'the secret "OBJECT" is not set'],
    ["${input:no-key}", 'the secret "NO_KEY", for "${input:no-key}", is not set'],
    ["${command:pass}", '"${command…}" is something that only a client can fill in'],
    ["${}", '"${…}" is something that only a client can fill in'],
    ["${my secret}", '"${…}" is something that only a client can fill in'],
  ] as const)("%s is a mistake", ([template, mistake], { expect }) => {
    expect(filled(template)).toEqual({ text: "", mistakes: [mistake] });
  });

  test("is seen, and so are the secrets that it needs", ({ expect }) => {
    const text = "${A}{env:B}${env:C:-d}${input:e-f}${command:g}";
    expect(hasPlaceholder(text)).toBe(true);
    expect(hasPlaceholder("$A {A} ${A")).toBe(false);
    expect(secretsIn(text)).toEqual(["A", "B", "E_F"]);
  });
});
