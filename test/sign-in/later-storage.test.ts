// Has an isolate of its own: an object that has been refused its storage stays so.
/** Storage that a later version has written, after a roll back to this one. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { test } from "vitest";

import { shardName } from "../../src/auth/store/shards.ts";
import { initializeMessage, post } from "../integration/client.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";
import { restartShardOf } from "./restart-shard.ts";

function ask({ token }: { token: string }): Promise<Response> {
  return post(`${ORIGIN}/mcp/alpha`, initializeMessage(), as(token));
}

test("is not taken for none: nobody's key is unknown, and the answer says nothing of the inside", async ({
  expect,
}) => {
  const person = await Person.signIn();
  const [known, unused] = [await person.key(), await person.key()];
  expect((await ask(known)).status).toBe(200);
  const shard = env.AUTH.getByName(shardName("u", person.id));
  await runInDurableObject(shard, (_, { storage }) => {
    storage.sql.exec("ALTER TABLE keys_1 RENAME TO keys_2");
  });
  await restartShardOf(person.id);
  const refused = await ask(unused);
  expect(refused.status).toBe(503);
  expect(await refused.text()).not.toMatch(/keys_|layout|later version/);
});
