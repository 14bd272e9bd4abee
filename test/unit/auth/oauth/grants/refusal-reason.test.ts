/**
 * The reason for which a grant brings no token: found from its state, whatever any description
 * says.
 */

import { describe, test } from "vitest";

import { takeReason, withReason } from "../../../../../src/auth/trace/token-reasons.ts";
import type { GrantState } from "../../../../../src/auth/oauth/grants/grant-state.ts";
import { refusalReason } from "../../../../../src/auth/oauth/grants/refusal-reason.ts";
import type { GrantTokenRequest } from "../../../../../src/auth/oauth/grants/grant-token-request.ts";

/** RFC 7636, appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CALLBACK = "http://127.0.0.1:9/cb";
const NOW = 1_800_000_000_000;

const PENDING: GrantState = {
  ...{ client: "c", isPending: true, code: "code-hash", refreshTokens: [] },
  ...{ challenge: CHALLENGE, redirectUri: CALLBACK, expiresAt: undefined },
};
const REDEEMED: GrantState = {
  ...{ client: "c", isPending: false, code: "code-hash", refreshTokens: ["now", "before"] },
  ...{ challenge: undefined, redirectUri: CALLBACK, expiresAt: NOW / 1000 + 3600 },
};

interface Case {
  readonly state: GrantState | undefined;
  readonly hash?: string;
  readonly client?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly wasRetired?: boolean;
}

function reasonOf(grantType: string, { state, client = "c", ...more }: Case): Promise<unknown> {
  const { hash = grantType === "refresh_token" ? "now" : "code-hash", wasRetired = false } = more;
  const params = new URLSearchParams({
    ...{ code_verifier: VERIFIER, redirect_uri: CALLBACK },
    ...more.params,
  });
  const form = { grantType, clientId: client, credential: "", subject: undefined };
  const visit = { form, hash, user: "u", grant: "g" } as unknown as GrantTokenRequest;
  return refusalReason(visit, params, { state, wasRetired }, NOW);
}

describe("a code", () => {
  test.for<readonly [string | undefined, Case]>([
    ["expired", { state: undefined }],
    ["used-code", { state: REDEEMED }],
    ["other-client", { state: PENDING, client: "d" }],
    ["verifier", { state: PENDING, params: { code_verifier: VERIFIER.replace("d", "e") } }],
    ["redirect", { state: PENDING, params: { redirect_uri: `${CALLBACK}2` } }],
    // Made up by a client that knows the grant: nothing about it is revealed.
    [undefined, { state: REDEEMED, hash: "made-up" }],
    [undefined, { state: PENDING, hash: "made-up", client: "d" }],
    [undefined, { state: PENDING }],
    [undefined, { state: { ...PENDING, redirectUri: undefined } }],
  ])("is refused: %s", async ([reason, given], { expect }) => {
    expect(await reasonOf("authorization_code", given)).toBe(reason);
  });
});

describe("a refresh token", () => {
  test.for<readonly [string | undefined, Case]>([
    ["ended", { state: undefined }],
    ["replaced", { state: REDEEMED, hash: "old", wasRetired: true }],
    ["other-client", { state: REDEEMED, client: "d" }],
    ["expired", { state: { ...REDEEMED, expiresAt: NOW / 1000 + 59 } }],
    [undefined, { state: { ...REDEEMED, expiresAt: undefined } }],
    [undefined, { state: REDEEMED, hash: "made-up" }],
    [undefined, { state: REDEEMED, hash: "old", wasRetired: true, client: "d" }],
  ])("is refused: %s", async ([reason, given], { expect }) => {
    expect(await reasonOf("refresh_token", given)).toBe(reason);
  });
});

describe("the reason", () => {
  test("goes with the response, and is taken off before a client sees it", async ({ expect }) => {
    const sent = withReason(Response.json({ error: "invalid_grant" }, { status: 400 }), "replaced");
    const { response, reason } = takeReason(sent);
    expect([reason, response.status]).toEqual(["replaced", 400]);
    expect([...response.headers.keys()]).toEqual(["content-type"]);
    expect(await response.json()).toEqual({ error: "invalid_grant" });
  });

  test("is one of our own, whatever a header contains", ({ expect }) => {
    const headers = { "Edgeway-Token-Reason": "a sentence of a library" };
    const { response, reason } = takeReason(new Response("", { headers }));
    expect([reason, response.headers.has("edgeway-token-reason")]).toEqual([undefined, false]);
  });
});
