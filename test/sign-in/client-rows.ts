/** The gateway's stored record of a registered client; clients see none of it. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { shardName } from "../../src/auth/store/shards.ts";

export interface ClientRow {
  /** Seconds since 1970. */
  readonly expires: number | null;
  readonly bytes: number;
}

/** @throws Error when there is none. */
export function clientRow(clientId: string): Promise<ClientRow> {
  const object = env.AUTH.getByName(shardName("c", clientId));
  return runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec<{ expires: number | null; bytes: number }>(
        "SELECT expires, length(value) AS bytes FROM kv_1 WHERE key = ?",
        `client:${clientId}`,
      )
      .one(),
  );
}

/** As when nothing was ever issued to it, and a day has gone by. */
export async function forget(clientId: string): Promise<void> {
  const object = env.AUTH.getByName(shardName("c", clientId));
  await runInDurableObject(object, (_, { storage }) => {
    const { rowsWritten } = storage.sql.exec(
      "DELETE FROM kv_1 WHERE key = ?",
      `client:${clientId}`,
    );
    if (rowsWritten === 0) throw new Error(`There is no client ${clientId}`);
  });
}
