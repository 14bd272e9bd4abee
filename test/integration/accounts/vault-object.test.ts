// Has an isolate of its own: its servers are those of this file.
/** The object of a vault with a real authorization server: connected, evicted, refreshed, disconnected. */

import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, inject, test } from "vitest";

import { vaultName, vaultsIn } from "../../../durable-objects/vaults.ts";
import type { Vault, VaultOwner } from "../../../src/accounts/vault.ts";
import { connectAccount } from "../../support/vendor/connect-account.ts";
import { Vendor } from "../../support/vendor/vendor.ts";
import { changeConfiguration } from "../configuration.ts";

const ORIGIN = "http://localhost:8787";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await Vendor.take(inject("vendors"));
  // Nobody signs in here: the vault is asked directly.
  Object.assign(env, { AUTH_MODE: "oauth" });
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ s: { url: vendor.url, auth: "oauth" } }) });
});

async function connect(person: string): Promise<void> {
  const vault = () => vaultsIn(env).of({ kind: "person", person });
  await connectAccount(vault, { slug: "s", origin: ORIGIN, person });
}

test("U16 U42 people who connect at once share one registration; a token that is refused to many is refreshed once", async ({
  expect,
}) => {
  const people = ["u_a", "u_b", "u_c", "u_d"];
  await Promise.all(people.map((person) => connect(person)));
  expect(await vendor.count("register")).toBe(1);
  const owner: VaultOwner = { kind: "person", person: "u_a" };
  const vault = () => vaultsIn(env).of(owner);
  const first = await vault().credential({ slug: "s" });
  if (first.kind !== "use") throw new Error(first.reason);
  await vendor.expire();
  await evictDurableObject(env.VAULTS.getByName(vaultName(owner)));
  const { accountId, generation } = first;
  const refused = { accountId, generation };
  const all = await Promise.all(
    Array.from({ length: 50 }, () => vault().credential({ slug: "s", refused })),
  );
  expect(all).toEqual(all.map(() => ({ ...first, generation: 2, value: expect.any(String) })));
  expect(new Set(all.map((one) => (one.kind === "use" ? one.value : ""))).size).toBe(1);
  expect(await vendor.count("refresh")).toBe(1);
  expect(await vault().disconnect("s")).toBe("disconnected");
  expect(await vault().credential({ slug: "s" })).toMatchObject({ reason: "not-connected" });
});

/** What the vault says once the server has refused the token. */
async function refusedTo(person: string): Promise<unknown> {
  const vault = () => vaultsIn(env).of({ kind: "person", person });
  const refused = await vault().credential({ slug: "s" });
  return refused.kind === "use" ? vault().credential({ slug: "s", refused }) : refused;
}

test("U18 a registration that is gone is made anew once, and each person is asked at their own next refresh", async ({
  expect,
}) => {
  const people = Array.from({ length: 10 }, (_, n) => `u_gone_${n}`);
  await Promise.all(people.map((person) => connect(person)));
  const registered = await vendor.count("register");
  await vendor.forgetClients();
  await vendor.expire();
  const asked = { kind: "need", need: "connect", reason: "client-gone" };
  const [first = "", ...others] = people;
  expect(await refusedTo(first)).toMatchObject(asked);
  await connect(first);
  expect(await vendor.count("register")).toBe(registered + 1);
  // Theirs are of the registration that is gone: the new one stays.
  for (const person of others) expect(await refusedTo(person)).toMatchObject(asked);
  await Promise.all(others.map((person) => connect(person)));
  expect(await vendor.count("register")).toBe(registered + 1);
});

async function rotate(...secrets: readonly string[]): Promise<void> {
  changeConfiguration({ VAULT_SECRET: secrets.join(",") });
  await abortAllDurableObjects();
}

const vaultOfE = (): Vault => vaultsIn(env).of({ kind: "person", person: "u_e" });

test("U36 what an earlier secret has sealed is sealed anew on demand, and opens after that secret is gone", async ({
  expect,
}) => {
  const [old, next] = ["a".repeat(44), "b".repeat(44)];
  await rotate(old);
  await connect("u_e");
  const registered = await vendor.count("register");
  await rotate(next, old);
  const { accounts, issuers } = await vaultOfE().sealAnew();
  expect([accounts, issuers.length]).toEqual([1, 1]);
  expect(await vaultsIn(env).sealRegistrations(issuers[0] ?? "")).toBe(1);
  expect(await vaultOfE().sealAnew()).toEqual({ accounts: 0, issuers });
  expect(await vaultsIn(env).sealRegistrations(issuers[0] ?? "")).toBe(0);
  await rotate(next);
  expect(await vaultOfE().credential({ slug: "s" })).toMatchObject({ kind: "use" });
  await connect("u_f");
  expect(await vendor.count("register")).toBe(registered);
});
