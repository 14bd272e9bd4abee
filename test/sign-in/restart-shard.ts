/** An object of the sign-in records that has to begin anew, from what it has stored. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { shardName } from "../../src/auth/store/shards.ts";

/**
 * Ends the object that has a user's grants and keys; the next call starts another. It is not evicted, as an
 * eviction waits for every call and stream, and 32 objects have the users of all tests.
 */
export async function restartShardOf(user: string): Promise<void> {
  const reason = `restarted for ${user}`;
  const shard = env.AUTH.getByName(shardName("u", user));
  try {
    await runInDurableObject(shard, (_, state) => state.abort(reason));
  } catch (error) {
    if (!String(error).includes(reason)) throw error;
  }
}
