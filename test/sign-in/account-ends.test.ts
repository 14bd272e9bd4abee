// Has an isolate of its own: its servers are those of this file.
/** Where an account ends or is replaced, so does at once what was opened with it: sessions, streams and lists. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, inject, test, vi } from "vitest";

import { feedName } from "../../durable-objects/ports.ts";
import { VaultObject } from "../../durable-objects/vault-object.ts";
import { vaultNamed } from "../../durable-objects/vaults.ts";
import { ownerName } from "../../src/accounts/owner-name.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { writeKey } from "../../src/upstream/server-key.ts";
import type { Hit } from "../support/vendor/script.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { until } from "../integration/bounded.ts";
import { modern, Session } from "../integration/client.ts";
import { beginWith, changeConfiguration } from "../integration/configuration.ts";
import { responseIn } from "../integration/event-reader.ts";
import { objectOf } from "../integration/session-object.ts";
import { AccountHolder } from "./account-holder.ts";
import { ALPHA, connect, ownerOf, vaultOf } from "./connecting.ts";
import { as, Person, records } from "./people.ts";
import { Visitor } from "./visitor.ts";

let vendor: Vendor;
beforeEach(async () => {
  vendor = await Vendor.take(inject("vendors"), { mcp: { server: "legacy" } });
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ alpha: { url: vendor.url, auth: "oauth", era: "legacy" } }),
  });
});

async function connected(): Promise<Person> {
  const person = await Person.signIn();
  await connect(vendor, person, "alice");
  return person;
}

async function sessionOf(person: Person): Promise<Session> {
  const session = await Session.open(ALPHA, { headers: as((await person.key()).token) });
  const answer = await responseIn(await session.callTool("whoami"));
  if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  return session;
}

const sessionIn = ({ headers }: Hit): string | undefined => headers["mcp-session-id"];

/** The server's sessions that were used, and those of them that were ended as their account. */
async function sessions(): Promise<{ used: readonly string[]; ended: readonly string[] }> {
  const hits = await vendor.hits("server");
  const of = (isOne: (hit: Hit) => boolean): readonly string[] =>
    [...new Set(hits.filter(isOne).flatMap((hit) => sessionIn(hit) ?? []))].toSorted();
  const used = of(({ method }) => method === "POST");
  return { used, ended: of(({ method, status }) => method === "DELETE" && status === 200) };
}

/** @returns how many there were. */
function allEnded(): Promise<number> {
  return until(async () => {
    const { used, ended } = await sessions();
    return used.length > 0 && used.length === ended.length ? used.length : undefined;
  }, "each session to be ended");
}

test("U63 a person who is disabled has no account, though the page had let them in before", async ({
  expect,
}) => {
  const person = await Person.signIn();
  await records().store.ofUser(person.id).setDisabled(person.id, true);
  const connecting = connect(vendor, person, "alice");
  await expect(connecting).rejects.toThrow("unknown");
  expect(await vendor.count("exchange")).toBe(0);
  expect(await vaultOf(person).accounts()).toEqual([]);
});

describe("U61 an account that is disconnected", () => {
  test("ends its session and streams at the server, and the next call is asked", async ({
    expect,
  }) => {
    const alice = await connected();
    const session = await sessionOf(alice);
    const stream = await session.listen();
    // The session's own stream, and that of the account's feed.
    await until(async () => {
      const hits = await vendor.hits("server");
      return hits.filter(({ method }) => method === "GET").length > 1 ? true : undefined;
    }, "both streams");
    expect(await vaultOf(alice).disconnect("alpha")).toBe("disconnected");
    await allEnded();
    const { result } = await responseIn(await session.callTool("whoami"));
    expect(JSON.stringify(result)).toContain("needs you to connect your account");
    await stream.cancel();
  });

  test("ends the session of an object that sleeps", async ({ expect }) => {
    const alice = await connected();
    const session = await sessionOf(alice);
    await evictDurableObject(await objectOf(session));
    await vaultOf(alice).disconnect("alpha");
    expect(await allEnded()).toBeGreaterThan(0);
  });

  test("ends the session that modern clients share", async ({ expect }) => {
    const alice = await connected();
    const headers = as((await alice.key()).token);
    const call = { name: "whoami", arguments: {} };
    const reply = await responseIn(await modern({ mcp: ALPHA }, "tools/call", call, { headers }));
    expect(reply.error).toBeUndefined();
    await vaultOf(alice).disconnect("alpha");
    await allEnded();
  });

  test("takes its lists along", async ({ expect }) => {
    const alice = await connected();
    const accountId = (await vaultOf(alice).account("alpha")) ?? "";
    const session = await sessionOf(alice);
    await responseIn(await session.request("tools/list"));
    const owner = ownerName(ownerOf(alice));
    const name = feedName(writeKey({ slug: "alpha", accountId, owner }));
    expect(await rowsOf(name)).toBeGreaterThan(0);
    await vaultOf(alice).disconnect("alpha");
    await until(async () => ((await rowsOf(name)) === 0 ? true : undefined), "nothing to be left");
  });
});

test("an end of everything that is tried again takes nothing that was connected since", async ({
  expect,
}) => {
  const first = await AccountHolder.arrive("alpha");
  await first.connect("alice");
  const { person, shard } = first.visitor;
  const ending = vi.spyOn(VaultObject.prototype, "disconnectAll").mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  await shard.revokeEverything(person.id);
  ending.mockRestore();
  const again = await AccountHolder.arrive("alpha", await Visitor.as(person));
  await again.connect("alice");
  const [account] = await vaultOf(person).accounts();
  await runDurableObjectAlarm(env.AUTH.getByName(shardName("u", person.id)));
  expect(await vaultOf(person).accounts()).toMatchObject([{ accountId: account?.accountId }]);
});

test("a bridge that ends because its server has moved goes off the record of the vault", async ({
  expect,
}) => {
  const alice = await connected();
  const headers = as((await alice.key()).token);
  await modern({ mcp: ALPHA }, "tools/call", { name: "whoami", arguments: {} }, { headers });
  const [bridge] = await until(async () => {
    const bridges = await bridgesOnRecord(alice);
    return bridges.length > 0 ? bridges : undefined;
  }, "the bridge to be on record");
  const url = `${vendor.url}/moved`;
  await beginWith({
    MCP_SERVERS: JSON.stringify({ alpha: { url, auth: "oauth", era: "legacy" } }),
  });
  await runDurableObjectAlarm(env.BRIDGES.get(env.BRIDGES.idFromString(bridge ?? "")));
  expect(await bridgesOnRecord(alice)).toEqual([]);
});

/** @returns the ids of the bridges that a person's vault tells when an account ends. */
function bridgesOnRecord(person: Person): Promise<readonly string[]> {
  return runInDurableObject(vaultNamed(env, ownerName(ownerOf(person))), (_instance, { storage }) =>
    Array.from(
      storage.sql.exec<{ object: string }>("SELECT object FROM holders_1 WHERE kind = 'bridge'"),
      ({ object }) => object,
    ),
  );
}

/** @returns how much is stored of a feed. */
function rowsOf(name: string): Promise<number> {
  return runInDurableObject(env.FEEDS.getByName(name), (_instance, { storage }) => {
    const tables = [
      ...storage.sql.exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
      ),
    ];
    return tables.length;
  });
}

test("U62 an account that is replaced ends its session with its own credential", async ({
  expect,
}) => {
  const alice = await connected();
  const session = await sessionOf(alice);
  const { used } = await sessions();
  await connect(vendor, alice, "bob");
  await until(async () => {
    const { ended } = await sessions();
    return used.every((id) => ended.includes(id)) ? true : undefined;
  }, "the first account's sessions to be ended");
  const { result } = await responseIn(await session.callTool("whoami"));
  expect(JSON.stringify(result)).toContain("bob");
});
