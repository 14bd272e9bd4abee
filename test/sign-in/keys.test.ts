/** API keys as bearers: what they are good for, and until when. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { shardName } from "../../src/auth/store/shards.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { until } from "../integration/bounded.ts";
import { initializeMessage, modernCall, post } from "../integration/client.ts";
import { responseIn } from "../integration/event-reader.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";
import { restartShardOf } from "./restart-shard.ts";
import { Visitor } from "./visitor.ts";

let person: Person;

beforeAll(async () => {
  person = await Person.signIn();
});

async function statusOf(token: string, path = "/mcp/alpha"): Promise<number> {
  const response = await post(ORIGIN + path, initializeMessage(), as(token));
  await response.text();
  return response.status;
}

async function isRefused(token: string): Promise<void> {
  await until(async () => ((await statusOf(token)) === 401 ? true : undefined), "401");
}

test("a key is a secret of 256 bits with a prefix that secret scanners know", async ({
  expect,
}) => {
  const { token } = await person.key();
  expect(token).toMatch(/^edgeway_sk_[a-z2-9]{16}_[A-Za-z0-9_-]{43}$/);
});

test("a key from before this prefix still works, and is shown as before", async ({ expect }) => {
  const { id, token } = await person.key();
  const old = token.replace(/^edgeway/, "mgw");
  expect(await statusOf(old)).toBe(401);
  const shard = env.AUTH.getByName(shardName("u", person.id));
  await runInDurableObject(shard, (_, { storage }) => {
    const before = "UPDATE keys_1 SET record = json_remove(record, '$.prefix') WHERE id = ?";
    storage.sql.exec(before, id);
  });
  expect(await statusOf(old)).toBe(200);
  expect(await statusOf(token)).toBe(401);
  const account = await (await Visitor.as(person)).visit(PATHS.account);
  expect(account.text).toContain(`mgw_sk_${id}`);
  await restartShardOf(person.id);
  expect(await statusOf(old)).toBe(200);
});

describe("B90: a key", () => {
  test("is valid for its endpoint, in both eras, and for no other", async ({ expect }) => {
    const { token } = await person.key();
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(token, "/mcp/beta")).toBe(401);
    expect(await statusOf(token, "/mcp")).toBe(401);
    const mcp = `${ORIGIN}/mcp/alpha`;
    const answer = await responseIn(await modernCall({ mcp }, { headers: as(token) }));
    expect(answer).toHaveProperty("result");
  });

  test("with a different character anywhere is refused", async ({ expect }) => {
    const { token } = await person.key();
    for (const at of [0, 8, 11, 26, 27, 28, token.length - 1]) {
      const other = token[at] === "a" ? "b" : "a";
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      expect([at, await statusOf(changed)]).toEqual([at, 401]);
    }
    expect(await statusOf(token.replace("edgeway_sk_", "edgeway_cc_"))).toBe(401);
    expect(await statusOf(token)).toBe(200);
  });

  test("with the secret of another key is refused", async ({ expect }) => {
    const [one, other] = [await person.key(), await person.key()];
    expect(await statusOf(one.token.slice(0, 28) + other.token.slice(28))).toBe(401);
  });

  test("that has expired is refused", async ({ expect }) => {
    const { token } = await person.key({ expiresAt: Date.now() - 1 });
    expect(await statusOf(token)).toBe(401);
  });
});

describe("B91: a key that was valid a moment ago is refused", () => {
  test("when it was deleted", async ({ expect }) => {
    const [key, other] = [await person.key(), await person.key()];
    expect([await statusOf(key.token), await statusOf(other.token)]).toEqual([200, 200]);
    await person.shard.endKey(person.id, key.id);
    await isRefused(key.token);
    expect(await statusOf(other.token)).toBe(200);
  });

  test("when its user was disabled, even after they are enabled again", async ({ expect }) => {
    const somebody = await Person.signIn();
    const { token } = await somebody.key();
    expect(await statusOf(token)).toBe(200);
    await somebody.shard.setDisabled(somebody.id, true);
    await isRefused(token);
    await somebody.shard.setDisabled(somebody.id, false);
    expect(await statusOf(token)).toBe(401);
  });

  test("when everything of its user was revoked", async ({ expect }) => {
    const somebody = await Person.signIn();
    const [{ token }, { tokens }] = [await somebody.key(), await somebody.connect()];
    expect([await statusOf(token), await statusOf(tokens.access_token)]).toEqual([200, 200]);
    await somebody.shard.revokeEverything(somebody.id);
    await isRefused(token);
    await isRefused(tokens.access_token);
  });

  test("but cannot be deleted by another user", async ({ expect }) => {
    const { id, token } = await person.key();
    const other = await Person.signIn();
    expect(await person.shard.endKey(other.id, id)).toBe(false);
    expect(await statusOf(token)).toBe(200);
  });
});
