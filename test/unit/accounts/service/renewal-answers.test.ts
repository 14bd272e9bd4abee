/** The answers of a vendor to requests for a new token, and what becomes of the account with each. */

import { describe, inject, test } from "vitest";

import type { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import type { UsableCredential } from "../../../../src/upstream/credentials.ts";
import type { VendorReaction } from "../../../support/vendor/script.ts";
import { parametersOf, Vendor } from "../../../support/vendor/vendor.ts";
import { beginAt, connectAt, oauth, usable, type VendorWorld, withVendor } from "./vendor-world.ts";

/** A token lives an hour, and is renewed five minutes before its end. */
const HOUR = 3600;
const EARLY = HOUR - 200;
const DAY = 24 * HOUR;

const S = { slug: "s" };

async function answering({ vendor }: VendorWorld, ...refresh: VendorReaction[]): Promise<void> {
  await vendor.change({ reactions: { refresh } });
}

const busy = (seconds: number): VendorReaction => ({
  ...{ status: 429, headers: { "Retry-After": String(seconds) }, body: { error: "slow_down" } },
});

const error = (code: string): VendorReaction => ({ status: 400, body: { error: code } });

/** Connects an account whose server refuses its first token. @returns the second one. */
async function renewedAt(vault: VaultService): Promise<UsableCredential> {
  await connectAt(vault);
  const refused = usable(await vault.credential(S));
  return usable(await vault.credential({ ...S, refused }));
}

describe("U47 a refresh that was not processed", () => {
  test.for<[string, VendorReaction, number]>([
    ["429 with Retry-After", busy(120), 120],
    ["503", { status: 503 }, 8],
    ["slow_down", { status: 400, body: { error: "slow_down" } }, 8],
  ])(
    "is sent again after its pause, over the object's lives: %s",
    ([, reaction, pause], { expect }) =>
      withVendor({}, async (world) => {
        const { vendor } = world;
        await connectAt(world.life());
        await answering(world, reaction);
        world.wait(EARLY);
        expect(usable(await world.life().credential(S)).generation).toBe(1);
        world.wait(pause === 120 ? 119 : 4);
        expect(usable(await world.life().credential(S)).generation).toBe(1);
        expect(await vendor.count("refresh")).toBe(1);
        world.wait(pause);
        expect(usable(await world.life().credential(S)).generation).toBe(2);
        expect(await vendor.count("refresh")).toBe(2);
      }),
  );

  test("is awaited by calls only until the old token has ended", ({ expect }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, busy(600));
      world.wait(EARLY);
      expect((await world.life().credential(S)).kind).toBe("use");
      world.wait(200);
      const { now } = world.fixture.clock;
      expect(await world.life().credential(S)).toMatchObject({
        ...{ kind: "need", need: "later", until: now + 400_000 },
      });
      expect(await world.vendor.count("refresh")).toBe(1);
      world.wait(400);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
    }));
});

describe("U47 a refresh of which nobody knows whether it was processed", () => {
  test.for<[string, VendorReaction]>([
    ["500", { status: 500, body: { error: "invalid_grant" } }],
    ["502", { status: 502, body: "<html>" }],
    ["a page with 200", { status: 200, body: "<html>" }],
    ["a redirect", { status: 302, headers: { Location: "{{server}}/elsewhere" } }],
    ["no answer", { end: "reset" }],
  ])("is not sent again while the old token is good: %s", ([, reaction], { expect }) =>
    withVendor({}, async (world) => {
      const { vendor } = world;
      await connectAt(world.life());
      await answering(world, reaction);
      world.wait(EARLY);
      expect(usable(await world.life().credential(S)).generation).toBe(1);
      world.wait(199);
      const vault = world.life();
      expect(usable(await vault.credential(S)).generation).toBe(1);
      expect((await vault.accounts())[0]?.state).toBe("uncertain");
      expect(await vendor.count("refresh")).toBe(1);
      world.wait(1);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
      expect(await vendor.count("refresh")).toBe(2);
      expect(await vendor.count("elsewhere")).toBe(0);
    }),
  );
});

describe("U46 a refresh whose answer was lost", () => {
  const LOST: VendorReaction = { takesEffect: true, end: "reset" };

  test("is repeated at once where refresh tokens are never replaced", ({ expect }) =>
    withVendor(
      { script: { rotation: "none" }, auth: () => oauth({ rotation: "none" }) },
      async (world) => {
        await connectAt(world.life());
        await answering(world, LOST);
        world.wait(EARLY);
        expect(usable(await world.life().credential(S)).generation).toBe(1);
        // Half a minute later, and not only when the old token has ended.
        world.wait(40);
        expect(usable(await world.life().credential(S)).generation).toBe(2);
      },
    ));

  test("is found again by a vendor that forgives a second use", ({ expect }) =>
    withVendor({ script: { rotation: "rotate", graceUses: 1 } }, async (world) => {
      await connectAt(world.life());
      await answering(world, LOST);
      world.wait(EARLY);
      expect(usable(await world.life().credential(S)).generation).toBe(1);
      world.wait(200);
      const vault = world.life();
      expect(usable(await vault.credential(S)).generation).toBe(2);
      expect((await vault.accounts())[0]?.state).toBe("connected");
    }));

  test("ends the account where the refresh token was spent, and the old token is used to its end", ({
    expect,
  }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, LOST);
      world.wait(EARLY);
      await world.life().credential(S);
      world.wait(199);
      expect((await world.life().credential(S)).kind).toBe("use");
      expect((await world.vendor.state()).families).toEqual([{ id: 0, user: "alice" }]);
      world.wait(1);
      expect(await world.life().credential(S)).toMatchObject({
        ...{ need: "connect", reason: "refresh-lost" },
      });
    }));
});

describe("U48 an error in place of a new token", () => {
  const basic = { status: 401, headers: { "WWW-Authenticate": 'Basic realm="x"' } };

  test.for<[string, VendorReaction, string]>([
    ["invalid_grant", error("invalid_grant"), "ended"],
    ["access_denied", error("access_denied"), "ended"],
    ["invalid_scope", error("invalid_scope"), "scope-refused"],
    ["invalid_client", error("invalid_client"), "client-gone"],
    ["unauthorized_client", error("unauthorized_client"), "client-gone"],
    ["invalid_grant behind a challenge", { ...basic, body: { error: "invalid_grant" } }, "ended"],
  ])("asks the person to connect again: %s", ([, reaction, reason], { expect }) =>
    withVendor({}, async (world) => {
      const vault = world.life();
      await connectAt(vault);
      await answering(world, reaction);
      world.wait(EARLY);
      expect(await vault.credential(S)).toMatchObject({ need: "connect", reason });
      expect(await world.life().credential(S)).toMatchObject({ need: "connect", reason });
      expect(await world.vendor.count("refresh")).toBe(1);
      expect(world.audit).toEqual(["connect", `refresh_failed ${reason}`]);
    }),
  );

  test("asks without the scope once more, where a refresh names it", ({ expect }) =>
    withVendor({ auth: () => oauth({ scopes: ["r"], scopeOnRefresh: true }) }, async (world) => {
      await connectAt(world.life());
      await answering(world, error("invalid_scope"));
      world.wait(EARLY);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
      const sent = (await world.vendor.hits("refresh")).map((hit) => parametersOf(hit)["scope"]);
      expect(sent).toEqual(["r", undefined]);
    }));

  test.for([
    ["invalid_target", "resource-refused"],
    ["invalid_request", "request-refused"],
    ["unsupported_grant_type", "request-refused"],
  ] as const)("is the operator's, who loses no token: %s", ([code, reason], { expect }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, { ...error(code), isLasting: true });
      world.wait(EARLY);
      expect(usable(await world.life().credential(S)).generation).toBe(1);
      world.wait(200);
      expect(await world.life().credential(S)).toMatchObject({ need: "operator", reason });
      await answering(world);
      world.wait(HOUR);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
    }),
  );
});

describe("a token", () => {
  test("U49 without an end is used until the server refuses it, and then there is nothing to renew", ({
    expect,
  }) =>
    withVendor({ script: { expiresIn: null, refreshTokens: "never" } }, async (world) => {
      await connectAt(world.life());
      world.wait(30 * 24 * HOUR);
      const refused = usable(await world.life().credential(S));
      expect(await world.life().credential({ ...S, refused })).toMatchObject({
        ...{ need: "connect", reason: "refused" },
      });
      expect(await world.vendor.count("refresh")).toBe(0);
    }));

  test("U49 that has ended when it arrives is renewed twice a minute at most", ({ expect }) =>
    withVendor({ script: { expiresIn: 5 } }, async (world) => {
      await connectAt(world.life());
      const vault = world.life();
      // By its time it is over, which is no reason to renew it: the next one would be no better.
      world.wait(60);
      expect(usable(await vault.credential(S)).generation).toBe(1);
      expect(await world.vendor.count("refresh")).toBe(0);
      const answers = new Set<string>();
      let known = 1;
      for (let seconds = 0; seconds < 600; seconds += 6) {
        world.wait(6);
        // oxlint-disable-next-line no-await-in-loop -- one call after the other
        let credential = await vault.credential(S);
        // The server takes a token that has just come, and refuses it at the next call.
        if (credential.kind === "use" && credential.generation === known) {
          // oxlint-disable-next-line no-await-in-loop -- as above
          credential = await vault.credential({ ...S, refused: credential });
        }
        if (credential.kind === "use") known = credential.generation;
        answers.add(credential.kind === "use" ? "use" : credential.need);
      }
      expect([...answers].toSorted()).toEqual(["later", "use"]);
      const count = await world.vendor.count("refresh");
      expect(count).toBeGreaterThan(15);
      expect(count).toBeLessThanOrEqual(20);
    }));

  test("U50 is kept, whatever ID token comes with it", ({ expect }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, { patch: { id_token: "e30.e30.e30" } });
      world.wait(EARLY);
      const { value, generation } = usable(await world.life().credential(S));
      expect(generation).toBe(2);
      const { tokens } = await world.vendor.state();
      expect(tokens.map((token) => `Bearer ${token.value}`)).toContain(value);
      // No key of the vendor was asked for.
      expect(await world.vendor.count("elsewhere")).toBe(0);
    }));

  test("U45 is renewed with the newest refresh token, also where an answer brings none", ({
    expect,
  }) =>
    withVendor({}, async (world) => {
      const { vendor } = world;
      await connectAt(world.life());
      for (let n = 0; n < 20; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one refresh after the other
        await vendor.change({ rotation: n % 3 === 0 ? "none" : "revoke-family" });
        world.wait(EARLY);
        // oxlint-disable-next-line no-await-in-loop -- as above
        expect(usable(await world.life().credential(S)).generation).toBe(n + 2);
      }
      expect(await vendor.count("refresh")).toBe(20);
      expect((await vendor.state()).families).toEqual([{ id: 0, user: "alice" }]);
    }));

  test("U44 is kept when its caller has left, and is not fetched again", ({ expect }) =>
    withVendor({}, async (world) => {
      const { vendor } = world;
      const vault = world.life();
      await connectAt(vault);
      await world.settled();
      await answering(world, { takesEffect: true, heldBy: "gate" });
      world.wait(EARLY);
      // Nobody waits for it: the object itself does.
      void vault.credential(S);
      await vendor.receives("refresh");
      expect(world.running).toBe(1);
      await vendor.open("gate");
      await world.settled();
      expect(usable(await world.life().credential(S)).generation).toBe(2);
      expect(await vendor.count("refresh")).toBe(1);
    }));

  test("U43 that is refused though it is new is not used for a minute, nor renewed again", ({
    expect,
  }) =>
    withVendor({}, async (world) => {
      const { vendor } = world;
      const vault = world.life();
      const second = await renewedAt(vault);
      expect(second.generation).toBe(2);
      const need = { need: "connect", reason: "refused" };
      expect(await vault.credential({ ...S, refused: second })).toMatchObject(need);
      world.wait(59);
      expect(await world.life().credential(S)).toMatchObject(need);
      expect(await vendor.count("refresh")).toBe(1);
      world.wait(1);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
    }));

  test("U43 that is refused again, when it is old, is renewed once", ({ expect }) =>
    withVendor({}, async (world) => {
      const { vendor } = world;
      const vault = world.life();
      await vault.credential({ ...S, refused: await renewedAt(vault) });
      world.wait(599);
      const young = usable(await vault.credential(S));
      expect(await vault.credential({ ...S, refused: young })).toMatchObject({ reason: "refused" });
      world.wait(60);
      const old = usable(await vault.credential(S));
      const third = usable(await vault.credential({ ...S, refused: old }));
      expect([old.generation, third.generation]).toEqual([2, 3]);
      const need = { need: "connect", reason: "refused" };
      expect(await vault.credential({ ...S, refused: third })).toMatchObject(need);
      expect(await vendor.count("refresh")).toBe(2);
    }));
});

test("U51 an account whose server has moved to another authorization server: nothing of the old one is sent there", ({
  expect,
}) =>
  withVendor({}, async (world) => {
    const { vendor } = world;
    const other = await Vendor.take(inject("vendors"));
    const vault = world.life();
    await connectAt(vault);
    const refused = usable(await vault.credential(S));
    const patch = { authorization_servers: [other.issuer] };
    await vendor.change({ reactions: { "resource-metadata": [{ patch, isLasting: true }] } });
    const asked = await vault.credential({ ...S, refused });
    expect(asked).toMatchObject({ need: "connect", reason: "moved" });
    expect(await world.life().credential(S)).toMatchObject({ reason: "moved" });
    expect(world.audit).toEqual(["connect", "moved moved"]);
    expect(new URL((await beginAt(vault)).url).origin).toBe(other.issuer);
    const account = await connectAt(vault, asked.kind === "need" ? asked.ask : undefined);
    expect(account.issuer).toBe(other.issuer);
    expect(await other.count("register")).toBe(1);
    expect(await vendor.count("refresh")).toBe(0);
    const { tokens, clients } = await vendor.state();
    const sent = JSON.stringify(await other.hits());
    for (const { value } of tokens) expect(sent).not.toContain(value);
    for (const { clientId } of clients) expect(sent).not.toContain(clientId);
  }));

describe("the alarm", () => {
  test.for<[string, VendorReaction, string]>([
    ["ended", error("invalid_grant"), "connect"],
    ["moved", { status: 503 }, "connect"],
  ])("U48 is due no more for an account that has %s", ([life, reaction, need], { expect }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, reaction);
      world.wait(EARLY);
      const elsewhere = life === "moved" ? { url: "https://elsewhere.example/mcp" } : {};
      const vault = world.life(elsewhere);
      await vault.sweep();
      expect(await vault.credential(S)).toMatchObject({ need });
      world.wait(DAY / 2); // the link that it gave out has ended
      expect(await vault.sweep()).toBeUndefined();
    }),
  );

  test("U47 is due when a refresh that was not processed may be sent again, and renews then", ({
    expect,
  }) =>
    withVendor({}, async (world) => {
      await connectAt(world.life());
      await answering(world, busy(120));
      world.wait(EARLY);
      const { now } = world.fixture.clock;
      expect(await world.life().sweep()).toBe(now + 120_000);
      world.wait(120);
      await world.life().sweep();
      expect(await world.vendor.count("refresh")).toBe(2);
      expect(usable(await world.life().credential(S)).generation).toBe(2);
    }));
});
