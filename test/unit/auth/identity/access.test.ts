/** Cloudflare Access in front of the pages: only its signed JWT identifies a person. */

import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, test, vi } from "vitest";

import { AccessProvider } from "../../../../src/auth/identity/access.ts";
import { NO_ONE_ALLOWED } from "../../../../src/auth/identity/allow-list.ts";
import { ProviderDocuments } from "../../../../src/auth/identity/provider-documents.ts";
import type { ProviderFetch } from "../../../../src/auth/identity/provider-fetch.ts";
import { now, PUBLIC_JWK, signed } from "./fake-oidc.ts";

const TEAM = "https://acme.cloudflareaccess.com";
const AUDIENCE = "32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228";
const ann = { issuer: TEAM, subject: "7335d417", email: "ann@example.com" };

class FakeAccess {
  readonly seen: { path: string; cookie: string | null }[] = [];
  keys: unknown = { keys: [PUBLIC_JWK] };
  status = 200;
  readonly fetch: ProviderFetch = async (url, init) => {
    const path = url.href.replace(TEAM, "");
    this.seen.push({ path, cookie: new Headers(init.headers).get("cookie") });
    if (path === "/cdn-cgi/access/certs") return Response.json(this.keys);
    return Response.json({}, { status: this.status });
  };
}

function providerAt(fake: FakeAccess, allow: object = { emails: ["ann@example.com"] }) {
  const config = {
    name: "access",
    label: "Continue with Cloudflare Access",
    teamUrl: TEAM,
    audience: AUDIENCE,
    allow: { ...NO_ONE_ALLOWED, ...allow },
    admins: ["ann@example.com"],
  };
  return new AccessProvider(config, { fetch: fake.fetch, documents: new ProviderDocuments() });
}

function claims(more: Record<string, unknown> = {}): JWTPayload {
  const usual = {
    iss: TEAM,
    aud: [AUDIENCE],
    sub: "7335d417",
    email: "ann@example.com",
    iat: now() - 60,
    nbf: now() - 60,
    exp: now() + 3600,
    type: "app",
  };
  const all = Object.entries({ ...usual, ...more }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(all);
}

const headersWith = (assertion: string): Headers =>
  new Headers({ "Cf-Access-Jwt-Assertion": assertion });

describe("AccessProvider.identify()", () => {
  afterEach(() => void vi.useRealTimers());

  test("knows who sends a request", async ({ expect }) => {
    const assertion = await signed(claims());
    expect(await providerAt(new FakeAccess()).identify(headersWith(assertion))).toEqual({
      kind: "identity",
      identity: { ...ann, isAdmin: true },
      upkeep: assertion,
      authTime: expect.closeTo(now() - 60, -1),
    });
  });

  test("identifies no person by the header with the address, or by the cookie", async ({
    expect,
  }) => {
    const headers = new Headers({
      "Cf-Access-Authenticated-User-Email": "ann@example.com",
      Cookie: `CF_Authorization=${await signed(claims())}`,
    });
    expect(await providerAt(new FakeAccess()).identify(headers)).toBeUndefined();
  });

  const forged: readonly (readonly [string, () => Promise<string>])[] = [
    ["alg none", async () => new UnsecuredJWT(claims()).encode()],
    ["a foreign key", () => signed(claims(), {}, true)],
    ["a foreign kid", () => signed(claims(), { kid: "key-2" }, true)],
    ["another team", () => signed(claims({ iss: "https://evil.cloudflareaccess.com" }))],
    ["another application", () => signed(claims({ aud: ["another"] }))],
    ["no audience", () => signed(claims({ aud: undefined }))],
    ["a time that is over", () => signed(claims({ exp: now() - 60 }))],
    ["no end", () => signed(claims({ exp: undefined }))],
    ["a service token's empty subject", () => signed(claims({ sub: "", common_name: "bot" }))],
    ["no subject", () => signed(claims({ sub: undefined }))],
    ["no statement in it", async () => "hello"],
    ["nothing in it", async () => ""],
  ];
  test.for(forged)("refuses a statement with %s", async ([, forge], { expect }) => {
    const result = await providerAt(new FakeAccess()).identify(headersWith(await forge()));
    expect(result).toMatchObject({ kind: "refused", reason: "bad-token" });
  });

  test("refuses a statement with an algorithm that Access does not use", async ({ expect }) => {
    const pair = await generateKeyPair("ES256", { extractable: true });
    const fake = new FakeAccess();
    fake.keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "key-1" }] };
    const header = { alg: "ES256", kid: "key-1" };
    const assertion = await new SignJWT(claims()).setProtectedHeader(header).sign(pair.privateKey);
    const result = await providerAt(fake).identify(headersWith(assertion));
    expect(result).toMatchObject({ kind: "refused", reason: "bad-token" });
  });

  test("B109: refuses a person who is not on the list", async ({ expect }) => {
    const provider = providerAt(new FakeAccess(), { domains: ["example.org"] });
    const result = await provider.identify(headersWith(await signed(claims())));
    expect(result).toMatchObject({ kind: "refused", reason: "not-allowed" });
  });

  test("fetches the keys once, and again for a new one after a while", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const fake = new FakeAccess();
    const provider = providerAt(fake);
    const made = headersWith(await signed(claims(), { kid: "key-2" }));
    for (let n = 0; n < 3; n++) {
      expect((await provider.identify(made))?.kind).toBe("refused");
    }
    expect(fake.seen).toHaveLength(1);
    fake.keys = { keys: [{ ...PUBLIC_JWK, kid: "key-2" }] };
    vi.advanceTimersByTime(31_000);
    expect((await provider.identify(made))?.kind).toBe("identity");
    expect(fake.seen).toHaveLength(2);
  });

  test("refuses in words while there are no keys", async ({ expect }) => {
    const fake = new FakeAccess();
    fake.keys = [];
    const result = await providerAt(fake).identify(headersWith(await signed(claims())));
    expect(result).toMatchObject({ kind: "refused", reason: "provider-error" });
  });
});

describe("AccessProvider.recheck()", () => {
  test("asks Access about the session", async ({ expect }) => {
    const fake = new FakeAccess();
    const assertion = await signed(claims());
    const verdict = await providerAt(fake).recheck(assertion, ann);
    expect(verdict).toMatchObject({ kind: "alive", identity: ann });
    expect(fake.seen.at(-1)).toEqual({
      path: "/cdn-cgi/access/get-identity",
      cookie: `CF_Authorization=${assertion}`,
    });
  });

  test.for([
    [400, "ended"],
    [401, "ended"],
    [302, "ended"],
    [500, "unavailable"],
    [429, "unavailable"],
  ] as const)("HTTP %i there: %s", async ([status, kind], { expect }) => {
    const fake = new FakeAccess();
    fake.status = status;
    const verdict = await providerAt(fake).recheck(await signed(claims()), ann);
    expect(verdict.kind).toBe(kind);
  });

  test("ends with the statement, with the list, and with another person", async ({ expect }) => {
    const fake = new FakeAccess();
    const assertion = await signed(claims());
    const over = await signed(claims({ exp: now() - 60 }));
    expect((await providerAt(fake).recheck(over, ann)).kind).toBe("ended");
    const closed = providerAt(fake, { emails: ["eve@example.com"] });
    expect((await closed.recheck(assertion, ann)).kind).toBe("ended");
    const eve = { ...ann, subject: "another" };
    expect((await providerAt(fake).recheck(assertion, eve)).kind).toBe("ended");
    expect((await providerAt(fake).recheck(undefined, ann)).kind).toBe("ended");
    expect(fake.seen.map(({ path }) => path)).not.toContain("/cdn-cgi/access/get-identity");
  });

  test("ends nothing while there are no keys", async ({ expect }) => {
    const fake = new FakeAccess();
    fake.keys = "none";
    const verdict = await providerAt(fake).recheck(await signed(claims()), ann);
    expect(verdict.kind).toBe("unavailable");
  });
});
