/** The subject of a token request, read as the library will read it. */

import { describe, test } from "vitest";

import {
  basicCredentials,
  subjectOf,
  TokenRequest,
} from "../../../../../src/auth/oauth/grants/token-request.ts";

const GRANT = "g".repeat(16);
const token = (user: string, grant = GRANT, secret = "x".repeat(32)): string =>
  `${user}:${grant}:${secret}`;

function read(form: Record<string, string>, authorization?: string) {
  return new TokenRequest(new URLSearchParams(form), authorization ?? null);
}

describe("a token", () => {
  test("names its owner", ({ expect }) => {
    expect(subjectOf(token("u_abc"))).toEqual({ user: "u_abc", grant: GRANT });
    expect(subjectOf(token("u".repeat(64)))).toBeDefined();
  });

  test.for([
    "",
    ":",
    "::",
    token(""),
    token("u".repeat(65)),
    token("u", "g".repeat(15)),
    token("u", "g".repeat(17)),
    token("u", GRANT, "x".repeat(31)),
    token("u", GRANT, "x".repeat(33)),
    `${token("u")}\n`,
    `\n${token("u")}`,
    token("a:b"),
    token("u/../v"),
    token("ü"),
    token("u").replaceAll(":", "%3A"),
    `mgw_sk_${"a".repeat(16)}_${"x".repeat(43)}`,
    `edgeway_sk_${"a".repeat(16)}_${"x".repeat(43)}`,
    "eyJhbGciOiJub25lIn0.e30.",
  ])("of another shape is none of ours: no. %#", (text, { expect }) => {
    expect(subjectOf(text)).toBeUndefined();
  });
});

describe("a request is about one credential", () => {
  const [code, refresh, access] = [token("code"), token("refresh"), token("access")];
  const all = { code, refresh_token: refresh, token: access, client_id: "c" };

  test.for([
    ["authorization_code", "code"],
    ["refresh_token", "refresh"],
    ["", "access"],
    ["client_credentials", undefined],
    ["Authorization_Code", undefined],
    ["__proto__", undefined],
  ] as const)("of the grant type %j, whatever else it brings", ([grantType, user], { expect }) => {
    const form = read({ ...all, grant_type: grantType });
    expect(form.subject?.user).toBe(user);
    expect(form.credential).toBe(user === undefined ? "" : token(user));
  });

  test("without a grant type it is to revoke one", ({ expect }) => {
    expect(read(all)).toMatchObject({ grantType: "", credential: access });
  });
});

describe("the client", () => {
  test("is in the form or in the header", ({ expect }) => {
    expect(read({ client_id: "a" }).clientId).toBe("a");
    expect(read({}, `Basic ${btoa("b:secret")}`).clientId).toBe("b");
    expect(read({ client_id: "a" }, `Basic ${btoa("b:secret")}`).clientId).toBe("a");
    expect(read({}).clientId).toBe("");
  });

  test.for([
    [`Basic ${btoa("a:b")}`, { user: "a", secret: "b" }],
    [`basic  ${btoa("a:b:c")} `, { user: "a", secret: "b:c" }],
    [`BASIC\t${btoa(":")}`, { user: "", secret: "" }],
    [
      `Basic ${btoa("https%3A%2F%2Fa.example%2Fx:%2B+1")}`,
      { user: "https://a.example/x", secret: "+ 1" },
    ],
    [`Basic ${btoa("a")}`, undefined],
    [`Basic ${btoa("%:b")}`, undefined],
    ["Basic !", undefined],
    ["Basic", undefined],
    [`Bearer ${btoa("a:b")}`, undefined],
    [`Basic ${btoa("a:b")}, Basic ${btoa("c:d")}`, undefined],
    [null, undefined],
  ])("in the header no. %#", ([header, credentials], { expect }) => {
    expect(basicCredentials(header as string | null)).toEqual(credentials);
  });
});
