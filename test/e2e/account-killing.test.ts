/**
 * The gateway is killed at seeded moments, while it refreshes tokens of two people, exchanges their codes and
 * registers itself, and is started again on what it had stored. The vendors replace a refresh token with each use, and
 * end all that a person has granted when one comes twice, as with a code.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { obtainToken } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { seeded, type Seeded } from "../support/seeded.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { pause } from "../support/until.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { KilledAccount } from "./killed-account.ts";
import { Lost } from "./killed-answers.ts";
import { KilledPerson } from "./killed-people.ts";

const SEEDS = seedsUpTo(20);
/** Whether to ask the vendor again is decided after half a minute; the other half of the seeds takes that long. */
const MAY_REST = SEEDS.length / 2;
const TEST_TIMEOUT_MS = 120_000;
/** About as long as it takes to connect an account. */
const PLAY_MS = 200;
const GATE = "until the gateway is killed";

/** The request at whose vendor the gateway waits when it is killed, or none in particular. */
const MOMENTS = ["refresh", "exchange", "register", undefined] as const;

interface Person {
  readonly person: KilledPerson;
  readonly token: string;
}

let oidc: TestOidcProvider;
let vendors: Vendors;
let killable: KillableGateway;
let people: readonly Person[];
/** Of each seed: where accounts are connected before, and where none is. */
let servers: readonly (readonly [used: Vendor, fresh: Vendor])[];
const all: KilledAccount[] = [];

beforeAll(async () => {
  oidc = await startOidcProvider(false);
  vendors = await startVendors();
  servers = await Promise.all(
    SEEDS.map(() => {
      const script = { signedIn: "page" } as const;
      // Refreshed when it is first used, while it is good.
      const reactions = { exchange: [{ patch: { expires_in: 60 }, isLasting: true }] } as const;
      const used = Vendor.take(vendors.origin, { ...script, reactions });
      return Promise.all([used, Vendor.take(vendors.origin, script)]);
    }),
  );
  const configured = servers.flatMap(([used, fresh], index) => [
    [`used-${index + 1}`, { url: used.url, auth: "oauth" }] as const,
    [`fresh-${index + 1}`, { url: fresh.url, auth: "oauth" }] as const,
  ]);
  const { issuer, clientId, clientSecret } = oidc;
  const allow = { domains: ["example.com", "other.example"] };
  const company = { provider: "oidc", name: "company", issuer, clientId, clientSecret, allow };
  killable = await startKillableGateway({
    auth: "oauth",
    servers: Object.fromEntries(configured),
    vars: { IDENTITY: JSON.stringify([{ provider: "owner" }, company]) },
    limits: { connectsPerMinute: 10_000 },
  });
  oidc.allowRedirect(`${killable.url}/callback/company`);
  const names = ["alice", "bob"] as const;
  people = await Promise.all(
    names.map(async (name) => {
      const person = await KilledPerson.signIn(name, killable, issuer);
      const gateway = { origin: killable.url, send: overHttp };
      const { tokens } = await obtainToken(gateway, { browser: person.browser, code: "" });
      return { person, token: tokens.access_token };
    }),
  );
});

afterAll(async () => {
  await killable?.remove();
  await vendors?.stop();
  await oidc?.stop();
});

function serversOf(seed: number): readonly [used: Vendor, fresh: Vendor] {
  const found = servers[seed - 1];
  if (found === undefined) throw new Error(`There is no seed ${seed}`);
  return found;
}

function accountsAt(slug: string, vendor: Vendor): readonly KilledAccount[] {
  const accounts = people.map(
    ({ person, token }) => new KilledAccount(person, token, slug, vendor),
  );
  all.push(...accounts);
  return accounts;
}

describe("U46 a gateway that is killed while it speaks to a vendor", () => {
  test.for(SEEDS)(
    "loses no account that the vendor still honours, seed %i",
    { timeout: TEST_TIMEOUT_MS },
    async (seed, { expect }) => {
      const dice = seeded(seed);
      const [used, fresh] = serversOf(seed);
      const old = accountsAt(`used-${seed}`, used);
      const young = accountsAt(`fresh-${seed}`, fresh);
      await Promise.all(old.map((account) => account.connect()));
      for (const account of old) account.isAnswered = false;
      const expired = old.filter(() => seed <= MAY_REST && dice.int(0, 1) === 1);
      await Promise.all(expired.map(({ user }) => used.expire(user)));

      const problems = await playUntilKilled(old, young, dice);
      await killable.start();
      expect(problems).toEqual([]);

      const findings = await Promise.all([
        ...old.map((account) => account.findingsOfRefresh(expired.includes(account))),
        ...young.map((account) => account.findingsOfConnecting()),
      ]);
      expect(findings.flat()).toEqual([]);
      const revocations = await Promise.all([...old, ...young].map((one) => one.revocations()));
      expect(revocations.flat()).toEqual([]);
      // One registration may have had no answer.
      expect(await fresh.count("register")).toBeLessThanOrEqual(2);
    },
  );

  test("at the end every account is of use, and some had to be connected again", async ({
    expect,
  }) => {
    const findings: string[] = [];
    for (const account of all) {
      // oxlint-disable-next-line no-await-in-loop -- the first has rested for longest
      findings.push(...(await account.findingsAtEnd()));
    }
    expect(findings).toEqual([]);
    const lost = all.filter(({ isLost }) => isLost);
    expect(lost).not.toEqual([]);
    // A token that was replaced was sent once more, when nothing was left that this could end.
    const kept = all.filter(({ isLost }) => !isLost);
    const revocations = await Promise.all(kept.map((account) => account.revocations()));
    expect(revocations.flat()).toEqual([]);
  });
});

/**
 * Everybody's applications use an account, and everybody connects another one, until the gateway is killed.
 *
 * @returns what went wrong before.
 */
async function playUntilKilled(
  old: readonly KilledAccount[],
  young: readonly KilledAccount[],
  dice: Seeded,
): Promise<readonly unknown[]> {
  const place = dice.pick(MOMENTS);
  const vendor = (place === "refresh" ? old : young)[0]?.vendor;
  if (place !== undefined) {
    const takesEffect = dice.int(0, 2) > 0 && { takesEffect: true as const };
    const held = { ...takesEffect, heldBy: GATE, isLasting: true } as const;
    await vendor?.change({ reactions: { [place]: [held] } });
  }
  const parts = [...old.map((one) => one.use()), ...young.map((one) => one.connect())];
  const playing = Promise.allSettled(parts);
  if (place !== undefined) await vendor?.receives(place);
  await pause(dice.int(0, place === undefined ? PLAY_MS : 10));
  await killable.kill();
  const problems = (await playing).flatMap((one) =>
    one.status === "rejected" ? [one.reason] : [],
  );
  if (place !== undefined) {
    await vendor?.open(GATE);
    await vendor?.change({ reactions: { [place]: [] } });
  }
  return problems.filter((problem) => !(problem instanceof Lost));
}
