/** Which signed statements prove that a client is the client. */

import { describe, test } from "vitest";

import {
  type AssertionProblem,
  claimedClient,
} from "../../../../src/auth/clients/client-assertion.ts";
import {
  type AssertionKeys,
  SIGNING_ALGORITHMS,
} from "../../../../src/auth/clients/document-keys.ts";
import {
  encode,
  ID,
  inline,
  ISSUER,
  Marks,
  NOW,
  refused,
  sign,
  type Statement,
  VERIFIED,
  verify,
} from "./assertion-fixture.ts";

const TOKEN = `${ISSUER}/token`;

describe("a statement", () => {
  test.for(SIGNING_ALGORITHMS)("signed with %s proves the client", async (alg, { expect }) => {
    const assertion = await sign({ key: alg });
    expect(await verify(assertion, { keys: inline(...SIGNING_ALGORITHMS) })).toEqual(VERIFIED);
  });

  const accepted: readonly (readonly [string, Statement])[] = [
    ["for the issuer with a slash", { claims: { aud: `${ISSUER}/` } }],
    ["for the token endpoint", { claims: { aud: TOKEN } }],
    ["for a list of our names", { claims: { aud: [TOKEN, ISSUER] } }],
    ["without iat", { claims: { iat: undefined } }],
    ["with nbf", { claims: { nbf: NOW } }],
    ["of a clock that is a minute ahead", { claims: { iat: NOW + 60, nbf: NOW + 60 } }],
    ["of a clock that is a minute behind", { claims: { iat: NOW - 120, exp: NOW - 59 } }],
    ["good for five minutes more, by a clock ahead", { claims: { exp: NOW + 360 } }],
    ["of five minutes ago, by a clock behind", { claims: { iat: NOW - 360 } }],
    ["with a fraction of a second", { claims: { exp: NOW + 60.5 } }],
    ["of type JWT", { header: { typ: "JWT" } }],
    ["of type jwt", { header: { typ: "jwt" } }],
    ["of its own type", { header: { typ: "client-authentication+jwt" } }],
    ["of its own full type", { header: { typ: "application/Client-Authentication+JWT" } }],
    ["without a key id", { header: { kid: undefined } }],
    ["with claims of its own", { claims: { scope: "mcp", nonce: "x" } }],
  ];
  test.for(accepted)("%s is accepted", async ([, statement], { expect }) => {
    expect(await verify(await sign(statement))).toEqual(VERIFIED);
  });

  const rejected: readonly (readonly [string, AssertionProblem, Statement])[] = [
    ["of another issuer", "other-client", { claims: { iss: `${ID}2` } }],
    ["about another client", "other-client", { claims: { sub: `${ID}2` } }],
    ["of nobody", "other-client", { claims: { iss: undefined } }],
    ["about nobody", "other-client", { claims: { sub: undefined } }],
    ["for another server", "other-audience", { claims: { aud: "https://b.example" } }],
    [
      "for another server too",
      "other-audience",
      { claims: { aud: [ISSUER, "https://b.example"] } },
    ],
    ["for nobody", "other-audience", { claims: { aud: undefined } }],
    ["for an empty list", "other-audience", { claims: { aud: [] } }],
    ["for a part of our name", "other-audience", { claims: { aud: `${ISSUER}/tok` } }],
    [
      "of its own type for the token endpoint",
      "other-audience",
      { header: { typ: "client-authentication+jwt" }, claims: { aud: TOKEN } },
    ],
    ["without an end", "bad-time", { claims: { exp: undefined } }],
    ["with an end in words", "bad-time", { claims: { exp: "soon" } }],
    ["with a time in words", "bad-time", { claims: { iat: "now" } }],
    ["with a beginning in words", "bad-time", { claims: { nbf: "now" } }],
    ["that is over", "expired", { claims: { iat: NOW - 120, exp: NOW - 60 } }],
    ["that is good for too long", "too-long", { claims: { exp: NOW + 361 } }],
    ["made in the future", "too-early", { claims: { iat: NOW + 61 } }],
    ["good in the future", "too-early", { claims: { nbf: NOW + 61 } }],
    ["made long ago", "too-old", { claims: { iat: NOW - 361 } }],
    ["without an id", "no-id", { claims: { jti: undefined } }],
    ["with an empty id", "no-id", { claims: { jti: "" } }],
    ["with an id that is a number", "no-id", { claims: { jti: 1 } }],
    ["with an endless id", "no-id", { claims: { jti: "x".repeat(257) } }],
    ["of another type", "bad-type", { header: { typ: "at+jwt" } }],
    ["of an algorithm that its client does not use", "bad-algorithm", { key: "RS256" }],
    ["of a key that its client does not have", "unknown-key", { key: "stranger" }],
    [
      "of a stranger who names a key of the client",
      "bad-signature",
      { key: "stranger", header: { kid: "ES256" } },
    ],
  ];
  test.for(rejected)("%s is %s, and is not used up", async ([, problem, statement], { expect }) => {
    const marks = new Marks();
    const keys: AssertionKeys = { ...inline("ES256", "RS256"), algorithms: ["ES256"] };
    const assertion = await sign(statement);
    expect(await verify(assertion, { keys, reserve: marks.reserve })).toEqual(refused(problem));
    expect(marks.taken.size).toBe(0);
  });

  const claims = { iss: ID, sub: ID, aud: ISSUER, exp: NOW + 60, jti: "1" };
  test.for([
    ["nothing", "", "malformed"],
    ["no JWT", "a.b", "malformed"],
    ["a JWE", "a.b.c.d.e", "malformed"],
    ["no JSON", "e30.x.x", "malformed"],
    ["too much", `${encode({ alg: "ES256" })}.${encode({ x: "x".repeat(16_384) })}.x`, "malformed"],
    ["no claims", `${encode({ alg: "ES256" })}.${encode([])}.x`, "malformed"],
    [
      "a type that is a number",
      `${encode({ alg: "ES256", typ: 1 })}.${encode(claims)}.x`,
      "malformed",
    ],
    [
      "an issuer that is a number",
      `${encode({ alg: "ES256" })}.${encode({ ...claims, iss: 1 })}.x`,
      "malformed",
    ],
    ["no signature", `${encode({ alg: "none" })}.${encode(claims)}.`, "bad-algorithm"],
    ["a shared key", `${encode({ alg: "HS256" })}.${encode(claims)}.x`, "bad-algorithm"],
    ["an algorithm of ours", `${encode({ alg: ["ES256"] })}.${encode(claims)}.x`, "bad-algorithm"],
    [
      "half a signature",
      `${encode({ alg: "ES256", kid: "ES256" })}.${encode(claims)}.AA`,
      "bad-signature",
    ],
    [
      "an extension that must be known",
      `${encode({ alg: "ES256", crit: ["x"], x: 1 })}.${encode(claims)}.AA`,
      "bad-signature",
    ],
  ] as const)("of %s is no statement", async ([, assertion, problem], { expect }) => {
    expect(await verify(assertion)).toEqual(refused(problem));
  });

  test("B93: proves once, also when it comes twice at once", async ({ expect }) => {
    const { reserve, taken } = new Marks();
    const assertion = await sign();
    const outcomes = await Promise.all([1, 2, 3].map(() => verify(assertion, { reserve })));
    expect(outcomes.filter(({ kind }) => kind === "verified").length).toBe(1);
    expect(outcomes).toContainEqual(refused("replayed"));
    // Until its clock and ours agree that it is over.
    expect([...taken.values()]).toEqual([NOW + 120]);
    expect([...taken.keys()]).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)]);
  });

  test("of one client uses up nothing of another's, whatever they call theirs", async ({
    expect,
  }) => {
    const { reserve } = new Marks();
    const other = `${ID}2`;
    const claims = { jti: "the same" };
    const both = [
      await verify(await sign({ claims }), { reserve }),
      await verify(await sign({ claims: { ...claims, iss: other, sub: other } }), {
        ...{ reserve, clientId: other },
      }),
    ];
    expect(both).toEqual([VERIFIED, VERIFIED]);
  });

  test("names its client before anything is verified", async ({ expect }) => {
    expect(claimedClient(await sign({ claims: { exp: 0 } }))).toBe(ID);
    expect(claimedClient(await sign({ claims: { iss: undefined } }))).toBeUndefined();
    expect(claimedClient("x")).toBeUndefined();
  });
});
