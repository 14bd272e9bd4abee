/** What the gateway is registered as at an issuer: made once, not tried too often, and forgotten by its id. */

import { describe, test } from "vitest";

import type { RegistrationOutcome } from "../../../../src/accounts/client/register.ts";
import { Registrations } from "../../../../src/accounts/service/registrations.ts";
import { vaultKeyring } from "../../../../src/accounts/service/vault-keyring.ts";
import { VaultSeal } from "../../../../src/accounts/service/vault-seal.ts";
import { RegistrationRows } from "../../../../src/accounts/store/registration-rows.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";
import { root } from "./vault-fixture.ts";

const REDIRECT = "https://gateway.example/oauth/upstream/s/callback";
const DAY = 86_400_000;
const REQUEST = {
  endpoint: "https://as.example/register",
  facts: { origin: "https://gateway.example", redirectUri: REDIRECT },
  ...{ server: "s", isAnew: false },
};

/** An issuer that registers, and counts. */
class Issuer {
  asked = 0;
  /** In place of a registration. */
  failure: RegistrationOutcome | undefined;
  hasKeys = true;
  readonly registrations: Registrations;

  constructor({ sql, clock }: SqlFixture, secretExpiresInMs?: number) {
    const now = (): number => clock.now;
    this.registrations = new Registrations({
      rows: new RegistrationRows(sql, now),
      seal: new VaultSeal("issuer", async () => {
        if (!this.hasKeys) throw new Error("The keys are out of reach");
        return vaultKeyring([root("a")]);
      }),
      register: async () => {
        this.asked += 1;
        const expiry =
          secretExpiresInMs === undefined ? {} : { secretExpiresAt: now() + secretExpiresInMs };
        const client = { id: `client-${this.asked}`, method: "none", ...expiry } as const;
        return this.failure ?? { kind: "registered", client };
      },
      now,
    });
  }

  async id(isAnew = false): Promise<string> {
    const result = await this.registrations.register({ ...REQUEST, isAnew });
    return result.kind === "registered" ? result.client.id : result.trouble;
  }
}

describe("the registrations at an issuer", () => {
  test("U16 twenty who ask at once share one", ({ expect }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture);
      const ids = await Promise.all(Array.from({ length: 20 }, () => at.id()));
      expect(new Set(ids)).toEqual(new Set(["client-1"]));
      expect(at.asked).toBe(1);
    }));

  test("U15 none is asked for without the keys to seal it", ({ expect }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture);
      at.hasKeys = false;
      await expect(at.id()).rejects.toThrow("out of reach");
      expect(at.asked).toBe(0);
      at.hasKeys = true;
      expect(await at.id()).toBe("client-1");
    }));

  test("U15 one that failed is not tried again for ten minutes", ({ expect }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture);
      at.failure = { kind: "failed", trouble: "registration-refused" };
      expect(await at.id()).toBe("registration-refused");
      at.failure = undefined;
      fixture.clock.now += 599_999;
      expect(await at.id()).toBe("registration-refused");
      expect(at.asked).toBe(1);
      fixture.clock.now += 1;
      expect(await at.id()).toBe("client-2");
    }));

  test("U18 one that is gone is made anew, and a late word of it does not end the new one", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture);
      expect(await at.id()).toBe("client-1");
      await at.registrations.forget(REDIRECT, "client-1");
      expect(await at.id()).toBe("client-2");
      await at.registrations.forget(REDIRECT, "client-1");
      expect(await at.id()).toBe("client-2");
      expect(await at.id(true)).toBe("client-3");
    }));

  test("the one that is there is used after one in its place failed", ({ expect }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture);
      expect(await at.id()).toBe("client-1");
      at.failure = { kind: "failed", trouble: "registration-refused" };
      expect(await at.id(true)).toBe("registration-refused");
      expect([await at.id(), await at.id(true), at.asked]).toEqual([
        "client-1",
        "registration-refused",
        2,
      ]);
    }));

  test("is made anew within the last day of its secret", ({ expect }) =>
    withSql(async (fixture) => {
      const at = new Issuer(fixture, 30 * DAY);
      expect(await at.id()).toBe("client-1");
      fixture.clock.now += 29 * DAY - 1;
      expect(await at.id()).toBe("client-1");
      fixture.clock.now += 1;
      expect(await at.id()).toBe("client-2");
    }));
});
