/** What the gateway sends as a client: registration, the authorization request and token requests. */

import { afterEach, describe, test, vi } from "vitest";

import {
  authorizationUrl,
  newVerifier,
} from "../../../../src/accounts/client/authorization-request.ts";
import { chooseRegistration } from "../../../../src/accounts/client/choose-registration.ts";
import {
  clientMetadataDocument,
  registrationBody,
} from "../../../../src/accounts/client/client-metadata.ts";
import { importClientKey, type OAuthClient } from "../../../../src/accounts/client/oauth-client.ts";
import { register } from "../../../../src/accounts/client/register.ts";
import {
  exchangeCode,
  refreshToken,
  requestOwnToken,
  revokeToken,
} from "../../../../src/accounts/client/token-request.ts";
import { toBase64Url } from "../../../../src/lib/base64url.ts";
import { resolveSettings } from "../../../../src/accounts/vendor-defaults.ts";

const ORIGIN = "https://gateway.example";
const REDIRECT = `${ORIGIN}/oauth/upstream/s/callback`;
const METADATA = {
  issuer: "https://as.example",
  authorization_endpoint: "https://as.example/authorize?tenant=1&state=theirs",
  token_endpoint: "https://as.example/token",
  registration_endpoint: "https://as.example/register",
  revocation_endpoint: "https://as.example/revoke",
};

const settingsOf = (more: object = {}, issuer = METADATA.issuer) =>
  resolveSettings({ legacy: false, catalog: "user", ...more }, issuer);

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Answers one after the other, and remembers what was sent. */
function serverWith(...answers: readonly (() => Response)[]) {
  const seen: Sent[] = [];
  const fetch = async (url: URL, init: RequestInit): Promise<Response> => {
    const body = await new Response(init.body).text();
    seen.push({ url: url.href, headers: new Headers(init.headers), body });
    const answer = answers[seen.length - 1];
    if (answer === undefined) throw new Error("no answer");
    return answer();
  };
  return { seen, access: { fetch, policy: { ownHosts: new Set<string>() } } };
}

const tokens = () => Response.json({ access_token: "a", token_type: "Bearer", refresh_token: "r" });
const refusedWith = (error: string) => (): Response =>
  Response.json({ error }, { status: 401, headers: { "WWW-Authenticate": "Basic" } });
const clientRefused = refusedWith("invalid_client");
const grantRefused = refusedWith("invalid_grant");
const PUBLIC: OAuthClient = { id: "c", method: "none" };

const answer =
  (body: object | string, status = 201) =>
  async () => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { seen, access } = serverWith(
      () => new Response(text, { status, headers: { Location: "https://x.example" } }),
    );
    const facts = { origin: ORIGIN, redirectUri: REDIRECT };
    const outcome = await register(METADATA.registration_endpoint, facts, access);
    return {
      seen: seen.length,
      result: outcome.kind === "failed" ? outcome.trouble : outcome.client,
    };
  };

describe("registration", () => {
  test("U13 goes by the specification's order, and by the operator's", ({ expect }) => {
    const cimd = { ...METADATA, client_id_metadata_document_supported: true };
    const { registration_endpoint: _none, ...closed } = METADATA;
    const way = (
      metadata: typeof cimd | typeof METADATA | typeof closed,
      more: object = {},
      origin = ORIGIN,
    ) => chooseRegistration({ settings: settingsOf(more), metadata, origin });
    expect(way(cimd)).toEqual({
      way: "cimd",
      clientId: `${ORIGIN}/oauth/client-metadata.json`,
      method: "none",
    });
    expect(way(METADATA)).toEqual({ way: "dcr", endpoint: METADATA.registration_endpoint });
    expect(way(closed)).toEqual({ way: "operator" });
    expect(way(cimd, { clientId: "c" })).toEqual({ way: "preregistered", clientId: "c" });
    expect(way(cimd, { registration: ["dcr"] }).way).toBe("dcr");
    expect(way(cimd, {}, "http://localhost:8787").way).toBe("dcr");
  });

  test("U12 the document is at its own id, and has every redirect URI and no secret", ({
    expect,
  }) => {
    expect(clientMetadataDocument(ORIGIN, ["s", "t"], "none")).toEqual({
      client_id: `${ORIGIN}/oauth/client-metadata.json`,
      client_name: "Edgeway (gateway.example)",
      client_uri: ORIGIN,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: [REDIRECT, `${ORIGIN}/oauth/upstream/t/callback`],
      token_endpoint_auth_method: "none",
    });
  });

  test("U17 the request says what the gateway is", ({ expect }) => {
    const body = registrationBody({ origin: ORIGIN, redirectUri: REDIRECT, scopes: ["a", "b"] });
    expect(body).toMatchObject({
      application_type: "web",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_basic",
      scope: "a b",
    });
    const local = registrationBody({
      origin: "http://localhost:1",
      redirectUri: "http://localhost:1/x",
    });
    expect(local["application_type"]).toBe("native");
  });

  test.for([
    [
      { client_id: "c", client_secret: "s" },
      201,
      { id: "c", method: "client_secret_basic", secret: "s" },
    ],
    [{ client_id: "c" }, 200, { id: "c", method: "none" }],
    [
      { client_id: "c", client_secret: "s", token_endpoint_auth_method: "client_secret_post" },
      201,
      { id: "c", method: "client_secret_post", secret: "s" },
    ],
    [
      {
        client_id: "c",
        client_secret: "s",
        token_endpoint_auth_method: "none",
        client_secret_expires_at: 0,
      },
      201,
      { id: "c", method: "none", secret: "s" },
    ],
  ] as const)("U14 %j is accepted", async ([body, status, client], { expect }) => {
    expect(await answer(body, status)()).toEqual({ seen: 1, result: client });
  });

  test.for([
    ["Forbidden", 403, "registration-refused"],
    ["{}", 422, "registration-refused"],
    ["{}", 500, "registration-failed"],
    ["{}", 307, "registration-failed"],
    [`{"client_id":"${"x".repeat(1_048_576)}"}`, 201, "registration-failed"],
  ] as const)("U15 %.20s with %i is %s", async ([body, status, trouble], { expect }) => {
    expect(await answer(body, status)()).toEqual({ seen: 1, result: trouble });
  });
});

test("U20 the authorization request has each parameter once, and keeps the endpoint's query", async ({
  expect,
}) => {
  const verifier = newVerifier();
  const settings = settingsOf({
    authorizeParams: { state: "x", client_id: "x", code_challenge: "x", audience: "y" },
  });
  const href = await authorizationUrl({
    metadata: METADATA,
    settings,
    clientId: "c",
    redirectUri: REDIRECT,
    state: "ours",
    verifier,
    resource: "https://s.example",
    scopes: ["a", "b"],
  });
  const url = new URL(href ?? "");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  expect(verifier).toMatch(/^[\w-]{43}$/);
  expect(href).not.toContain(verifier);
  const parameters = Object.fromEntries(url.searchParams);
  expect([...url.searchParams]).toHaveLength(Object.keys(parameters).length);
  expect(parameters).toEqual({
    tenant: "1",
    state: "ours",
    audience: "y",
    response_type: "code",
    client_id: "c",
    redirect_uri: REDIRECT,
    code_challenge: toBase64Url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    resource: "https://s.example",
    scope: "a b",
  });
});

describe("token requests", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.for([
    ["U32 an exchange", 15_000],
    ["U47 a refresh", 10_000],
  ] as const)(
    "%s that is not answered in time ends, and is sent once",
    async ([what, ms], { expect }) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      let sent = 0;
      const fetch = (_: URL, { signal }: RequestInit): Promise<Response> => {
        sent += 1;
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted")));
        });
      };
      const access = { fetch, policy: { ownHosts: new Set<string>() } };
      const asked = { metadata: METADATA, client: PUBLIC };
      let kind: string | undefined;
      const done = (
        what === "U47 a refresh"
          ? refreshToken({ ...asked, refreshToken: "r" }, access)
          : exchangeCode({ ...asked, ...code }, access)
      ).then(({ outcome }) => {
        kind = outcome.kind;
      });
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(kind).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      await done;
      expect([kind, sent]).toEqual(["unknown", 1]);
    },
  );

  const code = { code: "k", redirectUri: REDIRECT, verifier: "v", resource: "https://s.example" };

  test("U5 sends the same resource with code and refresh token", async ({ expect }) => {
    const { seen, access } = serverWith(tokens, tokens);
    await exchangeCode({ metadata: METADATA, client: PUBLIC, ...code }, access);
    const { resource } = code;
    await refreshToken({ metadata: METADATA, client: PUBLIC, refreshToken: "r", resource }, access);
    const sent = seen.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    expect(sent).toEqual([
      {
        grant_type: "authorization_code",
        client_id: "c",
        code: "k",
        redirect_uri: REDIRECT,
        code_verifier: "v",
        resource,
      },
      { grant_type: "refresh_token", client_id: "c", refresh_token: "r", resource },
    ]);
    expect(seen[0]?.headers.get("accept")).toBe("application/json");
  });

  test("U14 sends a secret that was to be of no use, once it is demanded", async ({ expect }) => {
    const { seen, access } = serverWith(clientRefused, tokens);
    const client: OAuthClient = { id: "c", method: "none", secret: "s" };
    const answer = await exchangeCode({ metadata: METADATA, client, ...code }, access);
    expect([answer.outcome.kind, answer.client.method]).toEqual(["granted", "client_secret_post"]);
    expect(new URLSearchParams(seen[1]?.body).get("client_secret")).toBe("s");
  });

  test("U48 reads the body behind a challenge", async ({ expect }) => {
    const { access } = serverWith(grantRefused);
    const request = { metadata: METADATA, client: PUBLIC, refreshToken: "r" };
    expect((await refreshToken(request, access)).outcome).toEqual({ kind: "dead" });
  });

  test("does not send a secret to an address that is not allowed", async ({ expect }) => {
    const { seen, access } = serverWith(tokens);
    const metadata = { ...METADATA, token_endpoint: "https://10.0.0.1/token" };
    const { outcome } = await refreshToken({ metadata, client: PUBLIC, refreshToken: "r" }, access);
    expect([outcome, seen]).toEqual([{ kind: "not-processed" }, []]);
  });

  test("U67 signs as the client that it is, for the issuer, and keeps no refresh token", async ({
    expect,
  }) => {
    const pem = await pemOf({ name: "ECDSA", namedCurve: "P-256" });
    const client = {
      id: "c",
      method: "private_key_jwt",
      key: { key: await importClientKey(pem) },
    } as const;
    const { seen, access } = serverWith(tokens);
    const answer = await requestOwnToken({ metadata: METADATA, client, scopes: ["a"] }, access);
    expect(answer.outcome).toEqual({ kind: "granted", tokens: { accessToken: "a" } });
    const [head = "", claims = ""] = (
      new URLSearchParams(seen[0]?.body).get("client_assertion") ?? ""
    ).split(".");
    expect(JSON.parse(atob(head))).toMatchObject({ alg: "ES256" });
    const { iss, sub, aud, exp, iat } = JSON.parse(atob(claims));
    expect({ iss, sub, aud, seconds: exp - iat }).toEqual({
      iss: "c",
      sub: "c",
      aud: METADATA.issuer,
      seconds: 60,
    });
  });

  test("U67 takes keys for ES256 and RS256, and no others", async ({ expect }) => {
    const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
    const [p256, rsa256, p384] = await Promise.all([
      pemOf({ name: "ECDSA", namedCurve: "P-256" }),
      pemOf({ name: "RSASSA-PKCS1-v1_5", ...rsa }),
      pemOf({ name: "ECDSA", namedCurve: "P-384" }),
    ]);
    expect((await importClientKey(p256)).algorithm.name).toBe("ECDSA");
    expect((await importClientKey(rsa256)).algorithm).toMatchObject({
      name: "RSASSA-PKCS1-v1_5",
      hash: { name: "SHA-256" },
    });
    for (const pem of [p384, "no key", ""]) {
      await expect(importClientKey(pem)).rejects.toThrow("The key is no PKCS #8 key");
    }
  });

  test("U61 revokes with the kind of token", async ({ expect }) => {
    const { seen, access } = serverWith(() => new Response(null));
    const token = { value: "r", hint: "refresh_token" } as const;
    expect(await revokeToken(METADATA, PUBLIC, token, access)).toBe(true);
    expect(seen[0]?.url).toBe(METADATA.revocation_endpoint);
    expect(seen[0]?.body).toBe("token_type_hint=refresh_token&token=r&client_id=c");
  });
});

/** A new private key as operators have it, in lines of 64 characters. */
async function pemOf(algorithm: SubtleCryptoGenerateKeyAlgorithm): Promise<string> {
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error("no pair");
  const pkcs8 = (await crypto.subtle.exportKey("pkcs8", pair.privateKey)) as ArrayBuffer;
  const lines = btoa(String.fromCharCode(...new Uint8Array(pkcs8))).match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
}
