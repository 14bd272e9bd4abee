/** Accounts for which no browser leaves: a person's API key, and the gateway's own. */

import { describe, inject, test } from "vitest";

import type { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import type { OAuthSettings, ServerAuth } from "../../../../src/accounts/settings.ts";
import { Accounts } from "../../../../src/accounts/store/accounts.ts";
import type { VendorClient } from "../../../support/vendor/script.ts";
import { parametersOf, Vendor } from "../../../support/vendor/vendor.ts";
import { withSql } from "../../lib/sql-fixture.ts";
import { life, OAUTH, play, type Played, root } from "./vault-fixture.ts";
import { usable, withVendor } from "./vendor-world.ts";
import { until } from "../../../support/until.ts";

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

const scopesAt = async (vendor: Vendor): Promise<unknown[]> =>
  (await vendor.hits("client-credentials")).map((hit) => parametersOf(hit)["scope"]);

const renewed: Played["renew"] = async () => ({
  kind: "tokens",
  tokens: { accessToken: "access" },
});

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

  const owned = (issuer: string, more: Partial<OAuthSettings> = {}): ServerAuth => ({
    kind: "client-credentials",
    oauth: { ...OAUTH, ...secret, issuer, ...more },
  });
  const shared = {
    script: { clients: [secret] },
    auth: ({ issuer }: Vendor): ServerAuth => owned(issuer),
    isShared: true,
  };

  test("is another one where its server has another address, and sends no secret to the first", ({
    expect,
  }) =>
    withVendor(shared, async (world) => {
      const first = usable(await world.life().credential(S));
      const known = await world.vendor.hits();
      const other = await Vendor.take(inject("vendors"), { clients: [secret] });
      const vault = world.life({ url: other.url, auth: owned(other.issuer) });
      const second = usable(await vault.credential(S));
      expect(second.accountId).not.toBe(first.accountId);
      expect((await other.state()).tokens.map(({ value }) => `Bearer ${value}`)).toEqual([
        second.value,
      ]);
      expect(await world.vendor.hits()).toEqual(known);
    }));

  test.for([
    ["access_denied", "client-refused"],
    ["invalid_grant", "client-refused"],
    ["invalid_scope", "scope-refused"],
  ])("outlives %s: it is asked for again after a pause", ([code, reason], { expect }) =>
    withVendor(shared, async (world) => {
      const { vendor } = world;
      await vendor.change({
        reactions: { "client-credentials": [{ status: 400, body: { error: code } }] },
      });
      const need = { need: "operator", reason };
      expect(await world.life().credential(S)).toMatchObject(need);
      world.wait(59);
      expect(await world.life().credential(S)).toMatchObject(need);
      expect(await vendor.count("client-credentials")).toBe(1);
      world.wait(30);
      expect((await world.life().credential(S)).kind).toBe("use");
    }),
  );

  test.for(["ended", "moved"] as const)(
    "that an earlier version has stored as %s is made anew",
    (state, { expect }) =>
      withVendor(shared, async (world) => {
        const { accountId } = usable(await world.life().credential(S));
        const { sql, clock } = world.fixture;
        const accounts = new Accounts(sql, () => clock.now);
        const stored = accounts.find("s")?.account;
        if (stored === undefined) throw new Error("There is no account");
        accounts.change({ ...stored, life: state, trouble: state });
        const anew = usable(await world.life().credential(S));
        expect(anew.accountId).not.toBe(accountId);
      }),
  );

  test("of an earlier version stays, though its server has demanded more than the operator's scopes", ({
    expect,
  }) =>
    withVendor(shared, async (world) => {
      const first = usable(await world.life().credential(S));
      const { sql, clock } = world.fixture;
      const accounts = new Accounts(sql, () => clock.now);
      const stored = accounts.find("s")?.account;
      if (stored === undefined) throw new Error("There is no account");
      accounts.change({ ...stored, configured: undefined, requested: ["w"] });
      expect(usable(await world.life().credential(S))).toEqual(first);
    }));

  test("whose key was removed is made anew", ({ expect }) =>
    withVendor(shared, async (world) => {
      const { accountId } = usable(await world.life().credential(S));
      const vault = world.life({ root: root("b") });
      expect(await vault.accounts()).toMatchObject([{ state: "connected" }]);
      expect(usable(await vault.credential(S)).accountId).not.toBe(accountId);
    }));

  test("asks for the scopes that the operator has entered now", ({ expect }) =>
    withVendor(shared, async (world) => {
      const { vendor } = world;
      const lifeOf = (...scopes: readonly string[]): VaultService =>
        world.life({ auth: owned(vendor.issuer, { scopes }) });
      const first = usable(await lifeOf("r").credential(S));
      const second = usable(await lifeOf("r", "w").credential(S));
      expect(usable(await lifeOf("r", "w").credential(S))).toEqual(second);
      expect(await scopesAt(vendor)).toEqual(["r", "r w"]);
      expect(second.value).not.toBe(first.value);
    }));

  test("leaves a scope out that the server demands and the authorization server does not know", ({
    expect,
  }) =>
    withVendor(shared, async (world) => {
      const { vendor } = world;
      const vault = world.life({ auth: owned(vendor.issuer, { scopes: ["r"] }) });
      const first = usable(await vault.credential(S));
      const refused = { status: 400, body: { error: "invalid_scope" } };
      await vendor.change({ reactions: { "client-credentials": [refused] } });
      world.wait(100);
      const lacking = { ...S, ...first, challenge: { scope: "w" } };
      const second = usable(await vault.lacking(lacking));
      expect(await scopesAt(vendor)).toEqual(["r", "r w", "r"]);
      const { generation } = second;
      expect(await vault.lacking({ ...lacking, generation })).toMatchObject({ need: "forbidden" });
    }));

  test("is asked for a scope that is demanded while a token without it is on its way", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const asked: (readonly string[])[] = [];
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      const played = play({
        renew: async (_server, { requested }) => {
          asked.push(requested);
          if (asked.length === 2) await answered;
          const tokens = { accessToken: `${asked.length}`, expiresInMs: HOUR * 1000 };
          return { kind: "tokens", tokens: { ...tokens, granted: requested } };
        },
      });
      const oauth = { ...OAUTH, scopes: ["r"] };
      const vault = life(fixture, { played, kind: "client-credentials", oauth });
      const challenge = { scope: "w" };
      const first = usable(await vault.credential(S));
      fixture.clock.now += (HOUR - 100) * 1000;
      const renewing = vault.credential(S);
      await until(() => asked.length === 2, "a renewal");
      const lacking = vault.lacking({ ...S, ...first, challenge });
      answer();
      await renewing;
      const second = usable(await lacking);
      fixture.clock.now += 100_000;
      expect(usable(await vault.lacking({ ...S, ...second, challenge })).generation).toBe(3);
      expect(asked).toEqual([["r"], ["r"], ["r", "w"]]);
    }));

  test("that another one replaces is told as ended", ({ expect }) =>
    withSql(async (fixture) => {
      const told: string[] = [];
      const played = play({
        renew: renewed,
        tell: async (_, ended) => void told.push(ended.accountId),
      });
      const kind = "client-credentials";
      const vault = life(fixture, { played, kind });
      const { accountId } = usable(await vault.credential(S));
      vault.holders.hold({ ...S, object: "o", kind: "feed", accountId });
      const endpoint = new URL("https://elsewhere.example/mcp");
      const other = life(fixture, { played, kind, endpoint });
      expect(usable(await other.credential(S)).accountId).not.toBe(accountId);
      await until(() => fixture.rowsIn("holders_1") === 0, "no holder");
      expect(told).toEqual([accountId]);
    }));
});
