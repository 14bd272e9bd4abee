/** B97: every way to make up an ID token, or to use one that was made for something else. */

import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { afterEach, describe, test, vi } from "vitest";

import {
  CLIENT_ID,
  FakeOidc,
  ISSUER,
  now,
  providerAt,
  PUBLIC_JWK,
  reasonOf,
  signed,
  signIn,
} from "./fake-oidc.ts";

type Forge = (claims: JWTPayload) => Promise<string>;

const publicKey = (await importJWK(PUBLIC_JWK, "RS256", { extractable: true })) as CryptoKey;
const pem = new TextEncoder().encode(await exportSPKI(publicKey));

/** The left half of the hash of "access-1". */
async function atHash(algorithm = "SHA-256"): Promise<string> {
  const hash = await crypto.subtle.digest(algorithm, new TextEncoder().encode("access-1"));
  const half = String.fromCharCode(...new Uint8Array(hash, 0, hash.byteLength / 2));
  return btoa(half).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const forgeries: readonly { name: string; forge: Forge }[] = [
  { name: "alg none", forge: async (claims) => new UnsecuredJWT(claims).encode() },
  {
    name: "HS256 with the public key as PEM",
    forge: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "key-1" }).sign(pem),
  },
  {
    name: "HS256 with the public key as JWK",
    forge: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: "key-1" })
        .sign(new TextEncoder().encode(JSON.stringify(PUBLIC_JWK))),
  },
  { name: "a foreign key under the provider's kid", forge: (claims) => signed(claims, {}, true) },
  { name: "a foreign kid", forge: (claims) => signed(claims, { kid: "key-2" }, true) },
  {
    name: "a key of its own in the header",
    forge: (claims) =>
      signed(claims, { kid: "key-2", jwk: PUBLIC_JWK, jku: "https://evil.example/" }, true),
  },
  { name: "a critical header", forge: (claims) => signed(claims, { crit: ["b64"], b64: true }) },
  { name: "a cut signature", forge: async (claims) => (await signed(claims)).slice(0, -9) },
  { name: "a signature that is no base64", forge: async (claims) => `${await signed(claims)}!*` },
  { name: "no signature", forge: async (claims) => (await signed(claims)).replace(/[^.]+$/, "") },
  { name: "five parts", forge: async () => "a.b.c.d.e" },
  { name: "no token", forge: async () => "hello" },
  {
    name: "other claims under the same signature",
    forge: async (claims) => {
      const [header, , signature] = (await signed({ ...claims, sub: "eve" })).split(".");
      const [, payload] = (await signed(claims)).split(".");
      return [header, payload, signature].join(".");
    },
  },
];

const claims: readonly { name: string; claims: Record<string, unknown> }[] = [
  { name: "the iss of another", claims: { iss: "https://evil.example" } },
  { name: "an iss with a slash more", claims: { iss: `${ISSUER}/` } },
  { name: "no iss", claims: { iss: undefined } },
  { name: "the aud of another", claims: { aud: "another-client" } },
  { name: "no aud", claims: { aud: undefined } },
  { name: "several aud and no azp", claims: { aud: [CLIENT_ID, "another-client"] } },
  {
    name: "several aud and the azp of another",
    claims: { aud: [CLIENT_ID, "another-client"], azp: "another-client" },
  },
  { name: "an exp that is past", claims: { exp: now() - 60, iat: now() - 120 } },
  { name: "no exp", claims: { exp: undefined } },
  { name: "an exp that is no number", claims: { exp: "never" } },
  { name: "an nbf to come", claims: { nbf: now() + 600 } },
  { name: "an iat long ago", claims: { iat: now() - 3600, exp: now() + 3600 } },
  { name: "an iat to come", claims: { iat: now() + 600 } },
  { name: "no iat", claims: { iat: undefined } },
  { name: "another nonce", claims: { nonce: "another" } },
  { name: "no nonce", claims: { nonce: undefined } },
  { name: "no sub", claims: { sub: undefined } },
  { name: "an empty sub", claims: { sub: "" } },
  { name: "a sub that is a number", claims: { sub: 5 } },
  { name: "a sub without end", claims: { sub: "x".repeat(256) } },
  { name: "the at_hash of another token", claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } },
];

describe("B97: an ID token is refused that has", () => {
  test.for(forgeries)("$name", async ({ forge }, { expect }) => {
    const fake = new FakeOidc();
    fake.idToken = forge;
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });

  test.for(claims)("$name", async ({ claims }, { expect }) => {
    const fake = new FakeOidc();
    fake.claims = claims;
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });

  test("an algorithm that the provider does not name", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { id_token_signing_alg_values_supported: ["ES256"] };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });

  test("an algorithm that is not accepted, though the provider names it", async ({ expect }) => {
    const pair = await generateKeyPair("RS512", { extractable: true });
    const fake = new FakeOidc();
    fake.metadata = { id_token_signing_alg_values_supported: ["RS256", "RS512"] };
    const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "key-1" }];
    fake.answers.set("/jwks", () => Response.json({ keys }));
    fake.idToken = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS512", kid: "key-1" }).sign(pair.privateKey);
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });
});

describe("an ID token is taken that has", () => {
  const fine: readonly { name: string; claims: () => Promise<Record<string, unknown>> }[] = [
    { name: "the usual claims", claims: async () => ({}) },
    { name: "the right at_hash", claims: async () => ({ at_hash: await atHash() }) },
    { name: "an aud in a list", claims: async () => ({ aud: [CLIENT_ID] }) },
    {
      name: "several aud and the right azp",
      claims: async () => ({ aud: [CLIENT_ID, "another-client"], azp: CLIENT_ID }),
    },
    { name: "a clock 20 s ahead", claims: async () => ({ iat: now() + 20, nbf: now() + 20 }) },
    { name: "expired 20 s ago", claims: async () => ({ iat: now() - 300, exp: now() - 20 }) },
  ];
  test.for(fine)("$name", async ({ claims }, { expect }) => {
    const fake = new FakeOidc();
    fake.claims = await claims();
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("identity");
  });
});

describe("an ID token is taken that is signed with", () => {
  const algorithms = [
    ["PS256", "SHA-256"],
    ["ES256", "SHA-256"],
    ["EdDSA", "SHA-512"],
  ] as const;
  test.for(algorithms)("%s, with an at_hash by %s", async ([alg, hash], { expect }) => {
    const pair = await generateKeyPair(alg, { extractable: true });
    const fake = new FakeOidc();
    fake.metadata = { id_token_signing_alg_values_supported: [alg] };
    const keys = [{ ...(await exportJWK(pair.publicKey)), kid: "key-1" }];
    fake.answers.set("/jwks", () => Response.json({ keys }));
    fake.idToken = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: "key-1" }).sign(pair.privateKey);
    fake.claims = { at_hash: await atHash(hash) };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("identity");
    fake.claims = { at_hash: await atHash(hash === "SHA-256" ? "SHA-512" : "SHA-256") };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });
});

describe("the provider's keys", () => {
  afterEach(() => void vi.useRealTimers());

  test("are fetched again for one that came later, but not for each that is made up", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const fake = new FakeOidc();
    const provider = providerAt(fake);
    let keys: unknown[] = [];
    fake.answers.set("/jwks", () => Response.json({ keys }));
    expect(reasonOf(await signIn(fake, provider))).toBe("bad-token");
    keys = [PUBLIC_JWK];
    expect(reasonOf(await signIn(fake, provider))).toBe("bad-token");
    expect(fake.count("/jwks")).toBe(1);
    vi.advanceTimersByTime(61_000);
    expect(reasonOf(await signIn(fake, provider))).toBe("identity");
    expect(fake.count("/jwks")).toBe(2);
  });

  test("are fetched again after a while, so that one that was withdrawn is not believed", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const fake = new FakeOidc();
    const provider = providerAt(fake);
    await signIn(fake, provider);
    fake.answers.set("/jwks", () => Response.json({ keys: [] }));
    expect(reasonOf(await signIn(fake, provider))).toBe("identity");
    vi.advanceTimersByTime(301_000);
    expect(reasonOf(await signIn(fake, provider))).toBe("bad-token");
  });

  test("that cannot be fetched admit no person", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.answers.set("/jwks", () => new Response("", { status: 503 }));
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("provider-unreachable");
  });
});
