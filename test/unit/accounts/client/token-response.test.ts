/** What the answers of token endpoints and authorization endpoints mean. */

import { describe, test } from "vitest";

import {
  judgeAuthorizationResponse,
  parseAuthorizationResponse,
} from "../../../../src/accounts/client/authorization-response.ts";
import { judgeTokenResponse } from "../../../../src/accounts/client/token-response.ts";

const judge = (body: object | undefined, status = 200, retryAfter: string | null = null) =>
  judgeTokenResponse({ status, retryAfter, ...(body && { body: { ...body } }) }, 0);
const TOKEN = { access_token: "a", token_type: "Bearer" };

describe("judgeTokenResponse()", () => {
  test.for(["bearer", "BEARER"])("U33 accepts the type %s", (type, { expect }) => {
    const tokens = { accessToken: "a" };
    expect(judge({ ...TOKEN, token_type: type, id_token: "garbage" })).toEqual({
      kind: "granted",
      tokens,
    });
  });

  test.for([
    [{ ...TOKEN, token_type: "mac" }, "bad-token"],
    [{ ...TOKEN, token_type: "DPoP" }, "bad-token"],
    [{ ...TOKEN, access_token: "a\nb" }, "bad-token"],
    [{ token_type: "Bearer" }, "unknown"],
    [{ ...TOKEN, error: "invalid_grant" }, "dead"],
    [undefined, "unknown"],
  ] as const)("U33 does not accept %j", ([body, kind], { expect }) => {
    expect(judge(body).kind).toBe(kind);
  });

  test.for([
    ["3600", 3_600_000],
    [3600, 3_600_000],
    [1e12, 315_360_000_000],
    [-1, undefined],
    [0, undefined],
    [null, undefined],
    ["soon", undefined],
  ] as const)("U33 reads expires_in %j", ([value, expected], { expect }) => {
    const outcome = judge({ ...TOKEN, expires_in: value });
    expect(outcome.kind === "granted" && outcome.tokens.expiresInMs).toBe(expected);
  });

  test.for([
    ["invalid_grant", 400, "dead"],
    ["invalid_grant", 401, "dead"],
    ["unauthorized_client", 400, "client-gone"],
    ["invalid_client", 401, "client-gone"],
    ["invalid_scope", 400, "scope-refused"],
    ["invalid_target", 400, "resource-refused"],
    ["invalid_request", 400, "request-refused"],
    ["__proto__", 400, "request-refused"],
    ["slow_down", 400, "not-processed"],
    ["invalid_grant", 429, "not-processed"],
    ["invalid_grant", 500, "unknown"],
    ["invalid_grant", 302, "unknown"],
  ] as const)("U48 %s with status %i is %s", ([error, status, kind], { expect }) => {
    expect(judge({ error }, status).kind).toBe(kind);
  });

  test("U48 knows a refresh token that has ended by its description", ({ expect }) => {
    const body = { error: "unauthorized_client", error_description: "refresh_token is invalid" };
    expect(judge(body, 403)).toEqual({ kind: "dead" });
  });

  test("reads when to come back", ({ expect }) => {
    expect(judge(undefined, 503, "7")).toEqual({ kind: "not-processed", retryAfterMs: 7000 });
    const date = "Thu, 01 Jan 1970 00:00:09 GMT";
    expect(judge(undefined, 429, date)).toEqual({ kind: "not-processed", retryAfterMs: 9000 });
    expect(judge(undefined, 429, "x")).toEqual({ kind: "not-processed" });
  });
});

describe("the authorization response", () => {
  test.for([
    "code=a&code=b&state=s",
    "code=a&state=s&state=s",
    "code=a&state=s&iss=i&iss=i",
    "code=&state=s",
    "code=a",
  ])("U29 is none of ours: %s", (query, { expect }) =>
    expect(parseAuthorizationResponse(query)).toBeUndefined(),
  );

  const ISSUER = "https://a.example";
  test.for([
    [true, ISSUER, "code"],
    [true, undefined, "iss-mismatch"],
    [false, ISSUER, "code"],
    [false, undefined, "code"],
    [false, `${ISSUER}/`, "iss-mismatch"],
    [true, "https://b.example", "iss-mismatch"],
    [false, "", "iss-mismatch"],
  ] as const)(
    "U7 U29 with the flag %s and iss %s is %s",
    ([sendsIss, iss, expected], { expect }) => {
      const response = { state: "s", code: "c", ...(iss !== undefined && { iss }) };
      const outcome = judgeAuthorizationResponse(response, { issuer: ISSUER, sendsIss });
      expect(outcome.kind === "code" ? "code" : outcome.trouble).toBe(expected);
    },
  );

  test.for([
    [false, undefined, "code"],
    [true, ISSUER, "code"],
    [true, undefined, "failed"],
    [false, "", "failed"],
  ] as const)(
    "U29 where nobody has said who the issuer is, with the flag %s and iss %s is %s",
    ([sendsIss, iss, expected], { expect }) => {
      const response = { state: "s", code: "c", ...(iss !== undefined && { iss }) };
      const outcome = judgeAuthorizationResponse(response, { issuer: undefined, sendsIss });
      expect(outcome.kind).toBe(expected);
    },
  );

  test("U30 tells of an error only when it is from the issuer", ({ expect }) => {
    const response = { state: "s", error: "access_denied" };
    const judged = (iss: string) =>
      judgeAuthorizationResponse({ ...response, iss }, { issuer: ISSUER, sendsIss: true });
    expect(judged(ISSUER)).toEqual({ kind: "failed", trouble: "declined" });
    expect(judged("https://b.example")).toEqual({ kind: "failed", trouble: "iss-mismatch" });
  });
});
