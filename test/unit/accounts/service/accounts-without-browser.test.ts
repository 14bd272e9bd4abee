/** Accounts for which no browser leaves: a person's API key, and the gateway's own. */

import { describe, test } from "vitest";

import type { OAuthSettings, ServerAuth } from "../../../../src/accounts/settings.ts";
import type { VendorClient } from "../../../support/vendor/script.ts";
import { parametersOf } from "../../../support/vendor/vendor.ts";
import { OAUTH } from "./vault-fixture.ts";
import { usable, withVendor } from "./vendor-world.ts";

const S = { slug: "s" };
const HOUR = 3600;

describe("U65 an API key", () => {
  const KEYS: ServerAuth = { kind: "key", key: { header: "Authorization", prefix: "Bearer " } };
  const GOOD = "good-key-of-alice-0123";
  const options = {
    script: { keys: { [`Bearer ${GOOD}`]: "alice" } },
    auth: () => KEYS,
  } as const;

  test.for([
    ["of two lines", "a\nb"],
    ["of 10 KiB", "k".repeat(10_240)],
  ])("%s is not tried at the server", ([, key = ""], { expect }) =>
    withVendor(options, async (world) => {
      const refused = { kind: "problem", problem: { code: "malformed-key" } };
      expect(await world.life().enterKey("s", key)).toEqual(refused);
      expect(await world.vendor.hits()).toEqual([]);
      expect(world.fixture.rowsIn("accounts_1")).toBe(0);
    }),
  );

  test("that the server refuses is not kept, and one that it takes is sent", ({ expect }) =>
    withVendor(options, async (world) => {
      const vault = world.life();
      const refused = { kind: "problem", problem: { code: "key-refused" } };
      expect(await vault.enterKey("s", "another-key-0123456789")).toEqual(refused);
      expect(world.fixture.rowsIn("accounts_1")).toBe(0);
      expect(await vault.enterKey("s", GOOD)).toMatchObject({
        kind: "connected",
        account: { kind: "key", keyEnd: "0123" },
      });
      expect(await world.life().credential(S)).toMatchObject({ value: `Bearer ${GOOD}` });
      expect(await world.vendor.count("server")).toBe(2);
    }));

  test("that is refused later is asked for at once, and the server has a minute's rest", ({
    expect,
  }) =>
    withVendor(options, async (world) => {
      const vault = world.life();
      await vault.enterKey("s", GOOD);
      const refused = usable(await vault.credential(S));
      const needs = await Promise.all(
        Array.from({ length: 100 }, () => vault.credential({ ...S, refused })),
      );
      for (const need of needs) expect(need).toMatchObject({ need: "connect", reason: "refused" });
      world.wait(59);
      expect((await world.life().credential(S)).kind).toBe("need");
      // Only the key was tried, when it was entered.
      expect(await world.vendor.count("server")).toBe(1);
    }));
});

async function signingKey(): Promise<{ pem: string; jwk: JsonWebKey }> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    ...(["sign", "verify"] as const),
  ]);
  if (!("privateKey" in pair)) throw new Error("no pair");
  const der = (await crypto.subtle.exportKey("pkcs8", pair.privateKey)) as ArrayBuffer;
  const text = btoa(String.fromCharCode(...new Uint8Array(der)));
  const pem = `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`;
  return { pem, jwk: (await crypto.subtle.exportKey("jwk", pair.publicKey)) as JsonWebKey };
}

describe("U67 the gateway's own account", () => {
  interface Way {
    readonly client: VendorClient;
    readonly settings: Partial<OAuthSettings>;
  }
  const id = { clientId: "gateway" };
  const secret = { ...id, clientSecret: "secret-of-the-gateway" };
  const WAYS: readonly [string, () => Promise<Way>][] = [
    ["Basic", async () => ({ client: secret, settings: secret })],
    [
      "a form",
      async () => ({
        client: { ...secret, method: "client_secret_post" },
        settings: { ...secret, clientAuth: "client_secret_post" },
      }),
    ],
    [
      "an assertion",
      async () => {
        const { pem, jwk } = await signingKey();
        return {
          client: { ...id, method: "private_key_jwt", jwk: { ...jwk } },
          settings: { ...id, privateKey: pem, clientAuth: "private_key_jwt" },
        };
      },
    ],
  ];

  test.for(WAYS)(
    "gets a token by %s, another one when that ends or is refused, and keeps no refresh token",
    async ([, way], { expect }) => {
      const { client, settings } = await way();
      const auth = (issuer: string): ServerAuth => ({
        kind: "client-credentials",
        oauth: { ...OAUTH, ...settings, issuer },
      });
      // A refresh token that no such client should get (RFC 6749 section 4.4.3).
      const patch = { refresh_token: "refresh-of-nobody" };
      const reactions = { "client-credentials": [{ patch, isLasting: true }] } as const;
      const options = {
        script: { clients: [client], reactions },
        auth: ({ issuer }: { readonly issuer: string }) => auth(issuer),
        isShared: true,
      };
      await withVendor(options, async (world) => {
        const { vendor } = world;
        const first = usable(await world.life().credential(S));
        expect(usable(await world.life().credential(S))).toEqual(first);
        world.wait(HOUR);
        const second = usable(await world.life().credential(S));
        expect(await vendor.count("client-credentials")).toBe(2);
        world.wait(100);
        const third = usable(await world.life().credential({ ...S, refused: second }));
        expect(await vendor.count("client-credentials")).toBe(3);
        const values = [first, second, third].map(({ value }) => value);
        const issued = (await vendor.state()).tokens.map(({ value }) => `Bearer ${value}`);
        expect(values).toEqual(issued);
        // The server refuses the new one too: no person can help, and no token is fetched for it.
        expect(await world.life().credential({ ...S, refused: third })).toMatchObject({
          ...{ need: "operator", reason: "refused" },
        });
        expect(await vendor.count("client-credentials")).toBe(3);
        expect(await vendor.count("refresh")).toBe(0);
        const grants = (await vendor.hits("client-credentials")).map((hit) => parametersOf(hit));
        expect(grants.every(({ refresh_token: token }) => token === undefined)).toBe(true);
        // RFC 8707: as the server's metadata has it.
        const { resource } = vendor;
        expect(grants.map((grant) => grant["resource"])).toEqual([resource, resource, resource]);
      });
    },
  );
});
