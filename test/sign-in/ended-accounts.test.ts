/** Whoever disables a person, or revokes everything, ends what that person has connected at servers. */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, test, vi } from "vitest";

import { ActivityObject } from "../../durable-objects/activity-object.ts";
import { VaultObject } from "../../durable-objects/vault-object.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { within } from "../integration/bounded.ts";
import { restartShardOf } from "./restart-shard.ts";
import { Visitor } from "./visitor.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

async function arrive(): Promise<Visitor> {
  const visitor = await Visitor.arrive();
  await visitor.shard.users.change(visitor.person.id, { hasAccounts: true });
  return visitor;
}

function watch() {
  return vi.spyOn(VaultObject.prototype, "disconnectAll");
}

describe("U63: a person's accounts", () => {
  test("end when the person is disabled, and when everything is revoked", async ({ expect }) => {
    const ended = watch();
    const { person, shard } = await arrive();
    await shard.setDisabled(person.id, true);
    expect(ended).toHaveBeenCalledTimes(1);
    await shard.setDisabled(person.id, false);
    expect(ended).toHaveBeenCalledTimes(1);
    await shard.revokeEverything(person.id);
    expect(ended).toHaveBeenCalledTimes(2);
  });

  test("end later where the vault is out of reach, the object's loss included", async ({
    expect,
  }) => {
    const ended = watch().mockRejectedValueOnce(new Error("The object is gone"));
    const { person, shard } = await arrive();
    expect(await shard.setDisabled(person.id, true)).toBe(true);
    expect(ended).toHaveBeenCalledTimes(1);
    await restartShardOf(person.id);
    const object = env.AUTH.getByName(shardName("u", person.id));
    await runDurableObjectAlarm(object);
    expect(ended).toHaveBeenCalledTimes(2);
    await runDurableObjectAlarm(object);
    expect(ended).toHaveBeenCalledTimes(2);
  });

  test("have ended before the person is let in again", async ({ expect }) => {
    const ended = watch().mockRejectedValueOnce(new Error("The object is gone"));
    const { person, shard } = await arrive();
    await shard.setDisabled(person.id, true);
    await shard.setDisabled(person.id, false);
    expect(ended).toHaveBeenCalledTimes(2);
    expect((await shard.users.find(person.id))?.isDisabled).toBe(false);
  });

  test("are no reason to call a vault of somebody who never connected one", async ({ expect }) => {
    const ended = watch();
    const { person, shard } = await Visitor.arrive();
    await shard.setDisabled(person.id, true);
    await shard.revokeEverything(person.id);
    expect(ended).not.toHaveBeenCalled();
  });

  test("are still known of after the person has signed in once more", async ({ expect }) => {
    const { person, shard } = await arrive();
    const known = await shard.users.find(person.id);
    if (known === undefined) throw new Error("The person is known");
    const { id, provider, issuer, subject } = known;
    const again = await shard.users.signedIn({ id, provider, issuer, subject });
    expect(again.hasAccounts).toBe(true);
  });
});

test("that a person's calls are to be forgotten is written down before their vault is waited for", async ({
  expect,
}) => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
  vi.spyOn(VaultObject.prototype, "disconnectAll").mockImplementationOnce(() => {
    asked.resolve();
    return answer.promise;
  });
  vi.spyOn(ActivityObject.prototype, "forget").mockImplementationOnce(() => {
    throw new Error("The object is gone");
  });
  const { person, shard } = await arrive();
  const disabled = shard.setDisabled(person.id, true);
  await within(asked.promise, "the question to the vault");
  const object = env.AUTH.getByName(shardName("u", person.id));
  const left = await runInDurableObject(object, (_, { storage }) => {
    const query = "SELECT user FROM ended_activity_1 WHERE user = ?";
    return storage.sql.exec(query, person.id).toArray();
  });
  expect(left).toEqual([{ user: person.id }]);
  answer.reject(new Error("The object is gone"));
  expect(await disabled).toBe(true);
  // A later test may have a person in the same shard.
  await runDurableObjectAlarm(object);
});

test("one object that does not answer keeps no other one from being asked again", async ({
  expect,
}) => {
  const gone = new Error("The object is gone");
  const vault = watch().mockRejectedValueOnce(gone);
  const forget = vi.spyOn(ActivityObject.prototype, "forget").mockImplementationOnce(() => {
    throw gone;
  });
  const { person, shard } = await arrive();
  await shard.setDisabled(person.id, true);
  const [answer, forgotten] = [Promise.withResolvers<never>(), Promise.withResolvers<void>()];
  vault.mockImplementationOnce(() => answer.promise);
  forget.mockImplementationOnce(() => forgotten.resolve());
  const alarm = runDurableObjectAlarm(env.AUTH.getByName(shardName("u", person.id)));
  await within(forgotten.promise, "the calls to be forgotten");
  answer.reject(gone);
  await alarm;
  expect(vault).toHaveBeenCalledTimes(2);
});
