/**
 * The gateway is killed at seeded moments, while applications of three people redeem codes, refresh
 * and are revoked, and is started again on what it had stored. What was answered before stands:
 * tokens are good, revocations hold, codes are spent. What was not answered can be sent again.
 */

import { afterAll, beforeAll, test } from "vitest";

import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import {
  type Gateway,
  PUBLIC_CLIENT,
  register,
  type RegisteredClient,
  requestToken,
  tokensIn,
} from "../support/oauth-requests.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { seeded, type Seeded } from "../support/seeded.ts";
import { pause } from "../support/until.ts";
import { Lost, statusWith } from "./killed-answers.ts";
import type { KilledGrant } from "./killed-grant.ts";
import { KilledPerson, PEOPLE } from "./killed-people.ts";

const SEEDS = [1, 2, 3, 4, 5];
const TEST_TIMEOUT_MS = 180_000;

let oidc: TestOidcProvider;
let killable: KillableGateway;
let gateway: Gateway;
let owner: KilledPerson;
let people: readonly KilledPerson[];
/** Of programs without a browser. */
let apiKey: string;
let service: readonly string[];
let serviceToken: string;
/** What has to be good still, of all seeds so far. */
const living: KilledGrant[] = [];
let lostRefreshes = 0;

beforeAll(async () => {
  // Refresh tokens that are good for one use are lost when the gateway dies while it uses one.
  oidc = await startOidcProvider(false);
  const { issuer, clientId, clientSecret } = oidc;
  const allow = { domains: ["example.com", "other.example"] };
  const company = { provider: "oidc", name: "company", issuer, clientId, clientSecret, allow };
  killable = await startKillableGateway({
    auth: "oauth",
    vars: { IDENTITY: JSON.stringify([{ provider: "owner" }, company]) },
    limits: {
      // All of this comes from one address, within a minute.
      ...{ attemptsPerMinute: 10_000, registrationsPerMinute: 1000, grantsPerClient: 1000 },
      ...{ codeSeconds: 600, bearerCacheSeconds: 0 },
      // Within this time, a refresh token that was replaced gets the answer of before, also after a kill.
      refreshReplaySeconds: 0,
    },
  });
  gateway = { origin: killable.url, send: overHttp };
  oidc.allowRedirect(`${killable.url}/callback/company`);
  people = await Promise.all(PEOPLE.map((name) => KilledPerson.signIn(name, killable, issuer)));
  [owner] = people as [KilledPerson];
  [apiKey = ""] = await owner.createKey();
  service = await owner.createService();
  serviceToken = await newServiceToken();
});

afterAll(async () => {
  await killable?.remove();
  await oidc?.stop();
});

test.for(SEEDS)(
  "every token that was issued is valid after a kill, seed %i",
  { timeout: TEST_TIMEOUT_MS },
  async (seed, { expect }) => {
    const dice = seeded(seed);
    const scene = await setUp(seed);
    await playUntilKilled(scene, dice);
    await killable.start();
    lostRefreshes += scene.refreshed.filter(({ isSpent }) => isSpent).length;
    await sendAgain(scene);

    const { client: _, ...lists } = scene;
    const grants = [...living, ...Object.values(lists).flat()];
    const findings = await Promise.all(grants.map((each) => each.findings(dice.int(0, 1) === 1)));
    expect(findings.flat()).toEqual([]);
    const [replayed] = scene.redeemed.filter(isLiving);
    const [stolen] = scene.refreshed;
    expect(await replayed?.findingsOfReplay()).toEqual([]);
    expect(await stolen?.findingsOfTheft()).toEqual([]);
    living.splice(0, living.length, ...grants.filter(isLiving));

    expect(await Promise.all(people.map((person) => person.isSignedIn()))).not.toContain(false);
    const tokens = [apiKey, serviceToken, await newServiceToken()];
    const statuses = await Promise.all(tokens.map((token) => statusWith(gateway, token)));
    expect(statuses).toEqual([200, 200, 200]);
  },
);

test("at the end every token is still valid, and some answers were lost", async ({ expect }) => {
  const findings = await Promise.all(living.map((each) => each.findings(false)));
  expect(findings.flat()).toEqual([]);
  expect(living.length).toBeGreaterThan(SEEDS.length * people.length);
  expect(lostRefreshes).toBeGreaterThan(0);
});

interface Scene {
  /** Approved, and nothing more. */
  readonly approved: readonly KilledGrant[];
  readonly redeemed: readonly KilledGrant[];
  readonly refreshed: readonly KilledGrant[];
  /** By their applications. */
  readonly revoked: readonly KilledGrant[];
  /** By their users. */
  readonly ended: readonly KilledGrant[];
  /** With their application, by the operator. */
  readonly deleted: readonly KilledGrant[];
  readonly client: RegisteredClient;
}

/** @returns grants whose time has come; those of each kind in the order of their people. */
async function setUp(seed: number): Promise<Scene> {
  const names = [`application ${seed}`, `soon deleted ${seed}`];
  const [kept, client] = (await Promise.all(
    names.map((name) => register(gateway, { ...PUBLIC_CLIENT, client_name: name })),
  )) as [RegisteredClient, RegisteredClient];
  const scene = {
    approved: await approvals(kept, 1),
    redeemed: await approvals(kept, 3),
    refreshed: await approvals(kept, 1),
    revoked: await approvals(kept, 3),
    ended: await approvals(kept, 2),
    deleted: await approvals(client, 1),
    client,
  };
  const { refreshed, revoked, ended, deleted } = scene;
  const redeemed = [...refreshed, ...revoked, ...ended, ...deleted];
  await Promise.all(redeemed.map((grant) => grant.redeem()));
  return scene;
}

/** @param count for each of the people. */
async function approvals(client: RegisteredClient, count: number): Promise<readonly KilledGrant[]> {
  const grants: KilledGrant[] = [];
  for (let n = 0; n < count; n++) {
    grants.push(...(await Promise.all(people.map((person) => person.approve(client)))));
  }
  return grants;
}

/** Everybody does their part at once, until the gateway is killed among so many answers. */
async function playUntilKilled(scene: Scene, dice: Seeded): Promise<void> {
  const { redeemed, refreshed, revoked, ended, deleted, client } = scene;
  const { promise: hasCome, resolve } = Promise.withResolvers<void>();
  let left = dice.int(5, 50);
  async function play(steps: Iterable<() => Promise<void>>): Promise<void> {
    try {
      for (const step of steps) {
        await step();
        if (--left === 0) resolve();
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
    }
  }
  const parts = people.map((person, index) => {
    const ofPerson = (_: unknown, place: number): boolean => place % people.length === index;
    const [endless] = refreshed.filter(ofPerson) as [KilledGrant];
    const deleting = index === 0 ? [() => person.deleteClient(client, deleted)] : [];
    const pages = ended.filter(ofPerson).map((grant) => () => person.end(grant));
    return Promise.all([
      play(redeemed.filter(ofPerson).map((grant) => () => grant.redeem())),
      play(forEver(() => endless.refresh())),
      play(revoked.filter(ofPerson).flatMap((each) => [() => each.refresh(), () => each.revoke()])),
      play(dice.int(0, 1) === 0 ? [...pages, ...deleting] : [...deleting, ...pages]),
    ]);
  });
  await Promise.race([hasCome, Promise.all(parts)]);
  await pause(dice.int(0, 10));
  await killable.kill();
  await Promise.all(parts);
}

function* forEver<T>(step: T): Iterable<T> {
  for (;;) yield step;
}

/** What people did on pages and saw no answer of, they do again: if it is there to be done. */
async function sendAgain({ ended, deleted, client }: Scene): Promise<void> {
  for (const [place, grant] of ended.entries()) {
    if (grant.revocation === "sent") await people[place % people.length]?.end(grant);
  }
  if (deleted.some(({ revocation }) => revocation === "sent")) {
    await owner.deleteClient(client, deleted);
  }
}

function isLiving({ redemption, revocation }: KilledGrant): boolean {
  return redemption === "answered" && revocation === "not sent";
}

async function newServiceToken(): Promise<string> {
  const [client_id, client_secret] = service;
  const response = await requestToken(gateway, {
    ...{ grant_type: "client_credentials", client_id, client_secret },
    resource: `${killable.url}/mcp`,
  });
  return (await tokensIn(response)).access_token;
}
