/** The refusals of the resource server, to the byte: clients parse them with regular expressions. */

import { describe, test } from "vitest";

import * as challenge from "../../../../src/auth/resource/challenge.ts";
import { presentedToken } from "../../../../src/auth/resource/bearer.ts";

const asked = {
  metadata: "https://gw.example/.well-known/oauth-protected-resource/mcp",
  scopes: ["mcp"],
};

describe("a challenge", () => {
  test("without a token names no error (RFC 6750 section 3.1)", async ({ expect }) => {
    const response = challenge.signInFirst(asked);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp", scope="mcp"',
    ]);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("with an invalid token has that error", async ({ expect }) => {
    const response = challenge.invalidToken(asked, "It is not good");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="It is not good", resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp", scope="mcp"',
    ]);
    expect(await response.json()).toEqual({
      error: "invalid_token",
      error_description: "It is not good",
    });
  });

  test("for more than the token may names all of it", async ({ expect }) => {
    const response = challenge.insufficientScope({ ...asked, scopes: ["mcp:a", "admin"] });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      403,
      'Bearer error="insufficient_scope", error_description="This needs the scope mcp:a admin", resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp", scope="mcp:a admin"',
    ]);
    expect(await response.json()).toMatchObject({ error: "insufficient_scope" });
  });

  test("is not made when the token cannot be checked: clients would discard it", ({ expect }) => {
    const response = challenge.cannotJudge();
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.has("www-authenticate")).toBe(false);
  });
});

describe("presentedToken()", () => {
  const ROWS: readonly (readonly [authorization: string | undefined, kind: unknown])[] = [
    [undefined, { kind: "none" }],
    ["", { kind: "none" }],
    ["Basic eDp5", { kind: "none" }],
    ["Bearertoken", { kind: "none" }],
    ["token", { kind: "none" }],
    ["Bearer token", { kind: "token", token: "token" }],
    ["bEARER   token", { kind: "token", token: "token" }],
    ["Bearer", { kind: "unusable" }],
    ["Bearer a, Bearer b", { kind: "unusable" }],
    ["Bearer a,b", { kind: "unusable" }],
  ];
  test.for(ROWS)("%s: %o", ([authorization, expected], { expect }) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const request = new Request("https://gw.example/mcp", { headers });
    expect(presentedToken(request)).toMatchObject(expected as object);
  });

  test.for(["?access_token=x", "?a=b&access_token=", "?%61ccess_token=x"])(
    "a token in the URL is ignored, with or without a header: %s",
    (query, { expect }) => {
      const headers = { Authorization: "Bearer token" };
      const request = new Request(`https://gw.example/mcp${query}`, { headers });
      expect(presentedToken(request).kind).toBe("unusable");
    },
  );

  test("two headers are not one token", ({ expect }) => {
    const headers = new Headers({ Authorization: "Bearer one" });
    headers.append("Authorization", "Bearer two");
    expect(presentedToken(new Request("https://gw.example/mcp", { headers })).kind).toBe(
      "unusable",
    );
  });
});
