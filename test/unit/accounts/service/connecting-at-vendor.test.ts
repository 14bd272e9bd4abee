/** An account is connected, widened and ended at a vendor: what goes over HTTP, and what does not. */

import { describe, test } from "vitest";

import type { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import type { OAuthSettings, ServerAuth } from "../../../../src/accounts/settings.ts";
import type { Place, VendorReaction } from "../../../support/vendor/script.ts";
import { GOOGLE_LIKE, REGISTERED } from "../../../support/vendor/shapes.ts";
import { parametersOf, type Vendor } from "../../../support/vendor/vendor.ts";
import {
  approve,
  beginAt,
  CALLBACK,
  connectAt,
  oauth,
  ORIGIN,
  usable,
  withVendor,
} from "./vendor-world.ts";

const S = { slug: "s" };
const HOUR = 3600;

/** One parameter of each request of some places. */
async function sentTo(vendor: Vendor, name: string, ...places: Place[]): Promise<unknown[]> {
  const hits = (await vendor.hits()).filter(({ place }) => places.includes(place));
  return hits.map((hit) => parametersOf(hit)[name]);
}

const upper = (url: string): string => url.replace("http://localhost", "HTTP://LOCALHOST");

describe("a server's own name", () => {
  test.for<[string, (url: string) => string]>([
    ["as it is configured", (url) => url],
    ["with a slash more", (url) => `${url}/`],
    ["without its path", (url) => new URL(url).origin],
    ["in upper case", upper],
  ])(
    "U5 is sent as the server spells it, in each of the three requests: %s",
    ([, of], { expect }) =>
      withVendor({}, async (world) => {
        const { vendor } = world;
        const resource = of(vendor.url);
        const patched: VendorReaction = { patch: { resource }, isLasting: true };
        await vendor.change({ reactions: { "resource-metadata": [patched] } });
        const vault = world.life();
        await connectAt(vault);
        world.wait(HOUR - 200);
        await vault.credential(S);
        const sent = await sentTo(vendor, "resource", "authorize", "exchange", "refresh");
        expect(sent).toEqual([resource, resource, resource]);
      }),
  );
});

describe("the gateway at an authorization server", () => {
  test("U13 is its document, where documents are taken, and registers nowhere", ({ expect }) =>
    withVendor({ script: { takesDocuments: true } }, async (world) => {
      await connectAt(world.life());
      const id = `${ORIGIN}/oauth/client-metadata.json`;
      expect(await sentTo(world.vendor, "client_id", "authorize", "exchange")).toEqual([id, id]);
      expect(await world.vendor.count("register")).toBe(0);
    }));

  test("U13 registers once for all that follows, over the object's lives", ({ expect }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await connectAt(world.life());
      const [hit, ...others] = await world.vendor.hits("register");
      expect(hit?.body).toMatchObject({ redirect_uris: [CALLBACK] });
      expect(others).toEqual([]);
    }));

  test("U14 remembers for all that follows that a secret was demanded which was to be of no use", ({
    expect,
  }) => {
    // It registers with a secret, and says that it wants none.
    const register = [{ patch: { token_endpoint_auth_method: "none" } }];
    const script = { registersAs: "client_secret_post", reactions: { register } };
    return withVendor({ script }, async (world) => {
      await connectAt(world.life());
      world.wait(HOUR - 200);
      await world.life().credential(S);
      world.wait(HOUR - 200);
      await world.life().credential(S);
      const sent = await sentTo(world.vendor, "client_secret", "exchange", "refresh");
      const secret = expect.any(String) as unknown;
      expect(sent).toEqual([undefined, secret, secret, secret]);
    });
  });

  test("U13 is not known where nobody is registered, and no browser leaves", ({ expect }) =>
    withVendor({ script: { registers: false } }, async (world) => {
      const offer = await world.life().offer("s", undefined);
      expect(offer).toEqual({ kind: "problem", problem: { code: "not-registered" } });
      const begun = await world.life().begin({ ...S, origin: ORIGIN, person: "u_alice" });
      expect(begun).toEqual({
        kind: "problem",
        problem: { code: "not-registered", detail: { redirectUri: CALLBACK } },
      });
      expect(await world.vendor.count("authorize")).toBe(0);
    }));

  test("U18 is refused with the operator's client: that is the operator's, and registers nobody", ({
    expect,
  }) => {
    const client = { clientId: "ours", clientSecret: "secret-of-ours" };
    return withVendor(
      { script: { clients: [client] }, auth: ({ issuer }) => oauth({ ...client, issuer }) },
      async (world) => {
        await connectAt(world.life());
        const refused = { status: 401, body: { error: "invalid_client" } };
        await world.vendor.change({ reactions: { refresh: [refused] } });
        world.wait(HOUR);
        expect(await world.life().credential(S)).toMatchObject({
          ...{ need: "operator", reason: "client-refused" },
        });
        expect(await world.vendor.count("register")).toBe(0);
      },
    );
  });
});

describe("U39 an operator's client of another issuer than before", () => {
  const ours = { clientId: "ours", clientAuth: "client_secret_post" } as const;
  const before = { ...ours, clientSecret: "secret-of-before" };
  const issuer = "https://another.example";
  const after = oauth({ ...ours, clientSecret: "secret-of-after", issuer });
  const options = {
    script: { clients: [{ ...before, method: "client_secret_post" }] },
    auth: ({ issuer }: Vendor): ServerAuth => oauth({ ...before, issuer }),
  };

  test.for<[string, (vault: VaultService) => Promise<unknown>]>([
    ["an account is ended", (vault) => vault.disconnect("s")],
    ["all accounts of a person are ended", (vault) => vault.disconnectAll()],
    ["the alarm renews what is about to end", (vault) => vault.sweep()],
    ["a call asks for the credential", (vault) => vault.credential(S)],
  ])("is not sent to that one when %s", ([, act], { expect }) =>
    withVendor(options, async (world) => {
      const { vendor } = world;
      await connectAt(world.life());
      const known = await vendor.hits();
      world.wait(HOUR - 200);
      await act(world.life({ auth: after }));
      await world.settled();
      expect((await vendor.hits()).slice(known.length)).toEqual([]);
    }),
  );

  test("is not sent to that one with the code of an attempt that began before", ({ expect }) =>
    withVendor(options, async (world) => {
      const callback = await approve(await beginAt(world.life()));
      expect(await world.life({ auth: after }).finish(callback)).toEqual({
        kind: "problem",
        problem: { code: "client-gone" },
      });
      expect(await world.vendor.count("exchange")).toBe(0);
    }));

  test.for<[string, (issuer: string) => Partial<OAuthSettings>]>([
    ["the issuer is the same", (issuer) => ({ issuer })],
    [
      "endpoints stand in place of the issuer",
      (issuer) => ({
        authorizationEndpoint: `${issuer}/authorize`,
        tokenEndpoint: `${issuer}/token`,
      }),
    ],
  ])("is sent, also with a new secret, where %s", ([, placeOf], { expect }) => {
    const authOf = (client: Partial<OAuthSettings>, { issuer }: Vendor): ServerAuth =>
      oauth({ ...client, ...placeOf(issuer) });
    const auth = (vendor: Vendor): ServerAuth => authOf(before, vendor);
    return withVendor({ ...options, auth }, async (world) => {
      const { vendor } = world;
      await connectAt(world.life());
      const rotated = { ...before, clientSecret: "rotated-secret" };
      await vendor.change({ clients: [{ ...rotated, method: "client_secret_post" }] });
      world.wait(HOUR - 200);
      const vault = world.life({ auth: authOf(rotated, vendor) });
      expect(usable(await vault.credential(S)).generation).toBe(2);
    });
  });
});

test("U39 an account stays where the operator's issuer has a slash more than the metadata's", ({
  expect,
}) =>
  withVendor({ auth: ({ issuer }) => oauth({ issuer: `${issuer}/` }) }, async (world) => {
    const account = await connectAt(world.life());
    expect(account.issuer).toBe(world.vendor.issuer);
    expect(usable(await world.life().credential(S)).generation).toBe(1);
    world.wait(HOUR - 200);
    expect(usable(await world.life().credential(S)).generation).toBe(2);
  }));

test("U39 an account ends where the operator's issuer is another one than its own", ({ expect }) =>
  withVendor({ auth: ({ issuer }) => oauth({ issuer }) }, async (world) => {
    await connectAt(world.life());
    const auth = oauth({ issuer: `${world.vendor.issuer}/other` });
    expect(await world.life({ auth }).credential(S)).toMatchObject({ reason: "moved" });
  }));

/** The issuer of Google, by which it is known, and the vendor's endpoints. */
const google = ({ issuer }: Vendor): ServerAuth => {
  const [authorizationEndpoint, tokenEndpoint] = [`${issuer}/authorize`, `${issuer}/token`];
  return oauth({
    ...{ issuer: "https://accounts.google.com", authorizationEndpoint, tokenEndpoint },
    ...REGISTERED,
  });
};

describe("Google", () => {
  test("gives a refresh token again when a connected account is connected again", ({ expect }) =>
    withVendor({ script: GOOGLE_LIKE, auth: google }, async (world) => {
      const vault = world.life();
      await connectAt(vault);
      await connectAt(vault);
      world.wait(HOUR);
      expect(usable(await vault.credential(S)).generation).toBe(2);
    }));
});

describe("the page and the callback", () => {
  test("U22 a page that is opened a hundred times stores nothing, and sends no secret", ({
    expect,
  }) =>
    withVendor({}, async (world) => {
      const vault = world.life();
      for (let n = 0; n < 100; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect((await vault.offer("s", undefined)).kind).toBe("oauth");
      }
      for (const table of ["accounts_1", "attempts_1", "asks_1"]) {
        expect(world.fixture.rowsIn(table)).toBe(0);
      }
      const places = new Set((await world.vendor.hits()).map(({ place }) => place));
      expect(places).toEqual(new Set(["server", "resource-metadata", "metadata"]));
    }));

  test("U31 of two windows each has a verifier of its own, and the last one wins", ({ expect }) =>
    withVendor({}, async (world) => {
      const vault = world.life();
      const [one, other] = [await beginAt(vault), await beginAt(vault)];
      const [first, last] = [await approve(one), await approve(other)];
      expect((await vault.finish(last)).kind).toBe("connected");
      const done = await vault.finish(first);
      expect(done.kind === "connected" && done.account.accountId).toBe(await vault.account("s"));
      const verifiers = await sentTo(world.vendor, "code_verifier", "exchange");
      expect(new Set(verifiers).size).toBe(2);
      expect(await vault.accounts()).toHaveLength(1);
    }));

  test.for<[string, VendorReaction]>([
    ["500", { status: 500 }],
    ["no answer", { end: "reset" }],
    ["no answer though the code was taken", { takesEffect: true, end: "reset" }],
  ])(
    "U32 an exchange is not repeated, and another attempt goes through: %s",
    ([, reaction], { expect }) =>
      withVendor({ script: { reactions: { exchange: [reaction] } } }, async (world) => {
        const { vendor } = world;
        const vault = world.life();
        const callback = await approve(await beginAt(vault));
        const unanswered = { kind: "problem", problem: { code: "exchange-unanswered" } };
        expect(await vault.finish(callback)).toEqual(unanswered);
        expect(await vault.finish(callback)).toEqual(unanswered);
        expect(await world.life().finish(callback)).toEqual(unanswered);
        expect(await vendor.count("exchange")).toBe(1);
        expect(await vault.accounts()).toEqual([]);
        await connectAt(vault);
        expect(await vendor.count("exchange")).toBe(2);
        expect(world.audit).toEqual(["connect_failed exchange-unanswered", "connect"]);
      }),
  );
});

describe("a server that demands more", () => {
  const lacking = { accountId: "", generation: 1 };

  test("U52 is asked for with all scopes, and nothing is renewed on the way", ({ expect }) =>
    withVendor({ auth: () => oauth({ scopes: ["r"] }) }, async (world) => {
      const vault = world.life();
      const { accountId } = await connectAt(vault);
      const need = await vault.lacking({ ...S, ...lacking, accountId, challenge: { scope: "w" } });
      expect(need).toMatchObject({ need: "scope" });
      if (!("ask" in need)) throw new Error(JSON.stringify(need));
      const begun = await beginAt(vault, need.ask);
      expect(new URL(begun.url).searchParams.get("scope")).toBe("r w");
      await vault.finish(await approve(begun));
      expect(await vault.accounts()).toMatchObject([{ state: "connected", granted: ["r", "w"] }]);
      expect((await vault.credential(S)).kind).toBe("use");
      expect(await world.vendor.count("refresh")).toBe(0);
    }));

  test("U53 and refuses again after that has no link any more", ({ expect }) =>
    withVendor({ auth: () => oauth({ scopes: ["r"] }) }, async (world) => {
      const vault = world.life();
      const final = { need: "forbidden", reason: "forbidden" };
      const needs: unknown[] = [];
      for (const scope of ["w", "w", "x", "y", "z"]) {
        const known = await vault.account("s");
        const accountId = known ?? (await connectAt(vault)).accountId;
        const need = await vault.lacking({ ...S, ...lacking, accountId, challenge: { scope } });
        if ("ask" in need) await connectAt(vault, need.ask);
        needs.push(need);
      }
      // The same scope once more, and then a fourth login within ten minutes.
      const asked = { need: "scope", reason: "more-scopes" };
      expect(needs).toMatchObject([asked, final, asked, final, final]);
      for (const need of needs.slice(3)) expect(need).not.toHaveProperty("ask");
      expect(await world.vendor.count("authorize")).toBe(3);
    }));
});

test("U63 everything of a person ends: the vault is empty, and the vendor has revoked both tokens", ({
  expect,
}) =>
  withVendor({}, async (world) => {
    const vault = world.life();
    await connectAt(vault);
    const { accountId } = usable(await vault.credential(S));
    await vault.disconnectAll();
    await world.settled();
    expect(world.fixture.rowsIn("accounts_1")).toBe(0);
    expect(await sentTo(world.vendor, "token_type_hint", "revoke")).toEqual([
      ...["refresh_token", "access_token"],
    ]);
    const { tokens } = await world.vendor.state();
    expect(tokens.map(({ state }) => state)).toEqual(["ended", "ended"]);
    expect(world.audit).toEqual(["connect", "disconnect"]);
    const refused = { accountId, generation: 1 };
    const need = { need: "connect", reason: "not-connected" };
    expect(await vault.credential({ ...S, refused })).toMatchObject(need);
    expect(await world.life().credential(S)).toMatchObject(need);
  }));
