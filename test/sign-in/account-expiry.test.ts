// Has an isolate of its own: its servers are those of this file.
/** The token of an account ends while many calls want it. */

import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, inject, test } from "vitest";

import { vaultName } from "../../durable-objects/vaults.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { AccountHolder } from "./account-holder.ts";

const CALLS = 64;
const CALL = { name: "whoami", arguments: {} };

let vendor: Vendor;
beforeAll(async () => {
  vendor = await Vendor.take(inject("vendors"), { signedIn: "page" });
  const alpha = { url: vendor.url, auth: "oauth" };
  const usual = JSON.parse(String(env["LIMITS"])) as Json;
  const limits = { ...usual, requestsInFlightPerSession: CALLS };
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ alpha }),
    LIMITS: JSON.stringify(limits),
  });
});

async function evictVaultOf({ visitor: { person } }: AccountHolder): Promise<void> {
  const name = vaultName({ kind: "person", person: person.id });
  await evictDurableObject(env.VAULTS.getByName(name));
}

/** So many calls at once, by clients of both eras. @returns what is not the tool's result. */
async function callAtOnce(holder: AccountHolder): Promise<readonly unknown[]> {
  const calls = Array.from({ length: CALLS }, (_, n) =>
    n % 2 === 0 ? holder.legacy("tools/call", CALL) : holder.modern("tools/call", CALL),
  );
  const answers = await Promise.all(calls);
  return answers.filter((answer) => !JSON.stringify(answer).includes("ran whoami as alice"));
}

test("U41 64 calls when the token has ended lead to one refresh, with the vault evicted before and after", async () => {
  const holder = await AccountHolder.arrive("alpha");
  await holder.connect("alice");
  expect(await holder.use()).toContain("ran whoami as alice");
  await vendor.expire();
  await evictVaultOf(holder);
  expect(await callAtOnce(holder)).toEqual([]);
  expect(await vendor.count("refresh")).toBe(1);
  // What the refresh gave is there when the object comes to life again.
  await evictVaultOf(holder);
  expect(await callAtOnce(holder)).toEqual([]);
  expect(await vendor.count("refresh")).toBe(1);
});
