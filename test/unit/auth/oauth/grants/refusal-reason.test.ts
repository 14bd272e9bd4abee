/** The reason why a grant brings no token: found from its state, and never from a description. */

import { describe, test } from "vitest";

import type { GrantRecord } from "../../../../../src/auth/oauth/grants/grant-record.ts";
import { refusalReason } from "../../../../../src/auth/oauth/grants/refusal-reason.ts";

/** RFC 7636, appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CALLBACK = "http://127.0.0.1:9/cb";
const NOW = 1_800_000_000_000;

const GRANT = { id: "g", clientId: "c", scope: [], createdAt: 0, authCodeId: "code-hash" };
const PENDING: GrantRecord = {
  ...GRANT,
  authCodeWrappedKey: "sealed",
  codeChallenge: CHALLENGE,
  redirectUri: CALLBACK,
};
const REDEEMED: GrantRecord = {
  ...GRANT,
  refreshTokenId: "now",
  previousRefreshTokenId: "before",
  redirectUri: CALLBACK,
  expiresAt: NOW / 1000 + 3600,
};
/** A redirect URI is optional where a client has one, and a lifetime where grants last for ever. */
const { redirectUri: _, ...WITHOUT_REDIRECT } = PENDING;
const { expiresAt: __, ...WITHOUT_END } = REDEEMED;

interface Case {
  readonly state: GrantRecord | undefined;
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
  return refusalReason(
    { grantType, clientId: client, params },
    { record: state, hash, wasRetired },
    NOW,
  );
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
    [undefined, { state: WITHOUT_REDIRECT }],
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
    [undefined, { state: WITHOUT_END }],
    [undefined, { state: REDEEMED, hash: "made-up" }],
    [undefined, { state: REDEEMED, hash: "old", wasRetired: true, client: "d" }],
  ])("is refused: %s", async ([reason, given], { expect }) => {
    expect(await reasonOf("refresh_token", given)).toBe(reason);
  });
});
