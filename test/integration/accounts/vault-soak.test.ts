// Has an isolate of its own: its clock runs ahead, and its server is that of this file.
/**
 * A hundred people whose tokens end every 20 seconds, at an authorization server that revokes all tokens of a grant
 * when a refresh token comes twice, and their vaults die at random moments. A minute of it, on a clock that is put
 * forward; `SEED_FACTOR=10` makes it ten.
 */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, inject, test, vi } from "vitest";

import { vaultName, vaultsIn } from "../../../durable-objects/vaults.ts";
import { mapLimited } from "../../../src/lib/map-limited.ts";
import type {
  AccountNeed,
  Credential,
  UsableCredential,
} from "../../../src/upstream/credentials.ts";
import type { Vault } from "../../../src/accounts/vault.ts";
import { passTime } from "../../sign-in/clock.ts";
import { seeded } from "../../support/seeded.ts";
import { until } from "../../support/until.ts";
import { connectAccount } from "../../support/vendor/connect-account.ts";
import { Vendor } from "../../support/vendor/vendor.ts";
import { changeConfiguration } from "../configuration.ts";

const ORIGIN = "http://localhost:8787";
const PEOPLE = 100;
const AT_ONCE = 25;
const STEP_MS = 20_000;
const STEPS = 3 * inject("seedFactor");
const TIMEOUT_MS = 60_000 * STEPS;
/** One request for a token of an account in so long, whatever happens. */
const BETWEEN_MS = 30_000;
const LONG_MS = 600_000;
const MOST_TRIES = 6;
/** In one of so many visits the vault dies. */
const ONE_IN = 6;
const MOMENTS = ["before", "meanwhile", "meanwhile", "afterwards"] as const;
type Moment = (typeof MOMENTS)[number];

let vendor: Vendor;
beforeAll(async () => {
  vendor = await Vendor.take(inject("vendors"), { expiresIn: STEP_MS / 1000 });
  // Nobody signs in here: the vaults are asked directly.
  Object.assign(env, { AUTH_MODE: "oauth" });
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ s: { url: vendor.url, auth: "oauth" } }) });
});
afterAll(() => {
  vi.useRealTimers();
});

class Person {
  readonly #name: string;
  kills = 0;
  served = 0;
  /** What was said of the account when it could not be used. */
  readonly needs: AccountNeed[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  get #vault(): Vault {
    return vaultsIn(env).of({ kind: "person", person: this.#name });
  }

  async connect(): Promise<void> {
    await connectAccount(() => this.#vault, { slug: "s", origin: ORIGIN, person: this.#name });
  }

  /** Calls twice at once, and connects the account again where it has to. */
  async act(): Promise<void> {
    const all = await Promise.all([this.call(), this.call()]);
    const needs = all.filter((need) => need !== undefined);
    this.needs.push(...needs.slice(0, 1));
    if (needs.some(({ need }) => need === "connect")) await this.connect();
  }

  /** The same, and the vault dies: before, afterwards, or while its refresh is answered, if it refreshes. */
  async actAndDie(moment: Moment): Promise<void> {
    if (moment === "before") await this.#kill();
    const gate = crypto.randomUUID();
    if (moment === "meanwhile") {
      await vendor.change({ reactions: { refresh: [{ takesEffect: true, heldBy: gate }] } });
    }
    const before = moment === "meanwhile" ? await vendor.count("refresh") : 0;
    let isDone = false;
    const acting = this.act().finally(() => {
      isDone = true;
    });
    if (moment === "meanwhile") {
      const isAsked = async (): Promise<boolean> => (await vendor.count("refresh")) > before;
      await until(async () => isDone || isAsked(), "a refresh, or the end of the visit");
      if (!isDone) await this.#kill();
      await vendor.open(gate);
      await vendor.change({ reactions: { refresh: [] } });
    }
    await acting;
    if (moment === "afterwards") await this.#kill();
  }

  /** @returns what is needed first; `undefined` when the server has served the call. */
  async call(): Promise<AccountNeed | undefined> {
    let refused: UsableCredential | undefined;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const credential = await this.#credential(refused);
      if (credential?.kind === "need") return credential;
      if (credential === undefined) continue;
      if (await isServed(credential)) {
        this.served += 1;
        return undefined;
      }
      refused = credential;
    }
    throw new Error(`${this.#name}: no answer after ${MOST_TRIES} tries`);
  }

  /** @returns `undefined` when the vault has died over it. */
  async #credential(refused: UsableCredential | undefined): Promise<Credential | undefined> {
    try {
      return await this.#vault.credential({ slug: "s", ...(refused !== undefined && { refused }) });
    } catch {
      return undefined;
    }
  }

  async #kill(): Promise<void> {
    const stub = env.VAULTS.getByName(vaultName({ kind: "person", person: this.#name }));
    await runInDurableObject(stub, (_, state) => state.abort("killed")).catch(() => undefined);
    this.kills += 1;
  }
}

/** Whether the server takes the token; what it makes of the request is its own affair. */
async function isServed({ header, value }: UsableCredential): Promise<boolean> {
  const request = { method: "POST", headers: { [header]: value }, body: "{}" };
  const answer = await fetch(vendor.url, request);
  await answer.body?.cancel();
  return answer.status !== 401;
}

/** The answer to a refresh was lost, or is waited for, or ended the grant (RFC 6749 section 5.2). */
const REASONS: ReadonlySet<string> = new Set(["refresh-lost", "failing", "ended"]);

test(
  "U78 no grant is revoked while its person can use it, and everybody is served or told a reason",
  { timeout: TIMEOUT_MS },
  async ({ expect }) => {
    const people = Array.from({ length: PEOPLE }, (_, n) => new Person(`u_${n}`));
    await mapLimited(people, AT_ONCE, (person) => person.connect());
    const dice = seeded(78);
    for (let step = 0; step < STEPS; step += 1) {
      passTime(STEP_MS);
      await vendor.expire();
      const doomed = people.filter(() => dice.int(1, ONE_IN) === 1);
      const others = people.filter((person) => !doomed.includes(person));
      // oxlint-disable-next-line no-await-in-loop -- one after the other: the vendor does not know whom it holds
      for (const person of doomed) await person.actAndDie(dice.pick(MOMENTS));
      await mapLimited(others, AT_ONCE, (person) => person.act());
    }
    // In the end everybody is served, or is after one new login.
    passTime(LONG_MS);
    await vendor.expire();
    const ends = await mapLimited(people, AT_ONCE, async (person) => {
      const need = await person.call();
      if (need === undefined) return undefined;
      person.needs.push(need);
      await person.connect();
      return person.call();
    });
    expect(ends.filter((need) => need !== undefined)).toEqual([]);

    const kills = people.reduce((sum, person) => sum + person.kills, 0);
    const served = people.reduce((sum, person) => sum + person.served, 0);
    const needs = people.flatMap((person) => person.needs);
    const lost = needs.filter(({ reason }) => reason === "refresh-lost").length;
    const { families, hits } = await vendor.state();
    const revoked = families.filter((family) => family.revoked === "reuse").length;
    const refreshes = hits.filter(({ place }) => place === "refresh").length;

    expect(needs.filter(({ reason }) => !REASONS.has(reason))).toEqual([]);
    // A refresh token is sent twice only where the answer to the first was lost, and its successor with it.
    expect([kills > 0, lost > 0, revoked]).toEqual([true, true, lost]);
    const most = Math.ceil((STEPS * STEP_MS) / BETWEEN_MS) + 2;
    expect(refreshes).toBeLessThanOrEqual(PEOPLE * most);
    expect(served).toBeGreaterThan((PEOPLE * STEPS) / 2);
  },
);
