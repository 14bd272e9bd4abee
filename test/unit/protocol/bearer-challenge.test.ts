/** The challenges of a server: hostile text, in any number of schemes and fields. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseBearerChallenge } from "../../../src/protocol/bearer-challenge.ts";

const METADATA = "https://s.example/.well-known/oauth-protected-resource/mcp";

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

describe("parseBearerChallenge()", () => {
  test("U1 reads the Bearer challenge behind another scheme, quoted or not", ({ expect }) => {
    const headers = new Headers();
    headers.append(
      "WWW-Authenticate",
      'Basic realm="Bearer resource_metadata=\\"https://no.example\\""',
    );
    headers.append(
      "WWW-Authenticate",
      `bearer error=invalid_token, resource_metadata="${METADATA}"`,
    );
    expect(parseBearerChallenge(headers.get("www-authenticate"))).toEqual({
      resourceMetadata: METADATA,
      error: "invalid_token",
    });
  });

  test.for([
    ["Bearer", {}],
    ["BEARER  scope=read", { scope: "read" }],
    ['Bearer scope="a b"', { scope: "a b" }],
    ['Bearer Scope = "a b" , ERROR =x', { scope: "a b", error: "x" }],
    [String.raw`Bearer scope="a\"b\\c"`, { scope: 'a"b\\c' }],
    ['Bearer realm="", scope=""', { scope: "" }],
    [`Bearer resource_metadata=${METADATA}`, { resourceMetadata: METADATA }],
    // The first one counts, of challenges and of parameters.
    ["Bearer scope=a, Bearer scope=b", { scope: "a" }],
    ["Bearer scope=a, scope=b", { scope: "a" }],
    // Parameters belong to the scheme before them.
    ["Bearer scope=a, Digest error=x", { scope: "a" }],
    ['Negotiate YWJj/ZGVm==, Bearer scope="a"', { scope: "a" }],
    ["Negotiate, Bearer, Basic", {}],
    ['DPoP algs="ES256 PS256", Bearer scope=a', { scope: "a" }],
    [", ,Bearer scope=a,, error=b,", { scope: "a", error: "b" }],
    // Broken, and still read as far as it is clear.
    ["Bearer scope=a b, error=x", { scope: "a", error: "x" }],
    ['Bearer error="x" scope="a b"', { error: "x", scope: "a b" }],
    ['Bearer error=x, scope="never ends, resource_metadata=https://no.example', { error: "x" }],
    ["Bearer error=, scope=a", { error: "", scope: "a" }],
  ] as const)("reads %s", ([header, challenge], { expect }) => {
    expect(parseBearerChallenge(header)).toEqual(challenge);
  });

  test.for([
    null,
    "",
    "Basic",
    'Basic realm="Bearer"',
    "Bearerscope=a",
    'Basic realm="x Bearer scope=a',
    "bearer=1",
  ])("finds none in %s", (header, { expect }) => {
    expect(parseBearerChallenge(header)).toBeUndefined();
  });

  test("leaves out what is too long to be handed on", ({ expect }) => {
    const header = `Bearer scope="${"a".repeat(4097)}", error=x`;
    expect(parseBearerChallenge(header)).toEqual({ error: "x" });
  });

  const token = fc.stringMatching(/^[a-z][a-z0-9._~-]{0,8}$/);
  const value = fc.string({ maxLength: 20, unit: "grapheme-ascii" });
  const parameter = fc
    .tuple(token, value)
    .map(([name, text]) => `${name === "scope" ? "x" : name}=${quoted(text)}`);
  const others = fc.array(
    fc
      .tuple(
        token.filter((name) => name !== "bearer"),
        fc.array(parameter, { maxLength: 3 }),
      )
      .map(([scheme, parameters]) => `${scheme} ${parameters.join(", ")}`),
    { maxLength: 3 },
  );

  test("finds the challenge among any others, with the value that was quoted", ({ expect }) => {
    fc.assert(
      fc.property(others, value, others, (before, scope, after) => {
        const own = `Bearer realm=${quoted("a, b")}, scope=${quoted(scope)}`;
        expect(parseBearerChallenge([...before, own, ...after].join(", "))?.scope).toBe(scope);
      }),
    );
  });

  test("ends on any text, and what it returns stands in the text", ({ expect }) => {
    const part = fc.constantFrom(
      '"',
      "\\",
      ",",
      "=",
      " ",
      "\t",
      "Bearer",
      "scope",
      "error",
      "a",
      "\u0000",
      "é",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const header = parts.join("");
        const { scope = "", error = "" } = parseBearerChallenge(header) ?? {};
        const plain = header.replaceAll("\\", "");
        for (const found of [scope, error]) {
          expect(plain).toContain(found.replaceAll("\\", ""));
        }
      }),
    );
  });
});
