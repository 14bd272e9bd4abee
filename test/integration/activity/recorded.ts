/** What the objects that keep calls have of them. */

import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { activitiesIn } from "../../../durable-objects/activities.ts";
import type { ListedCall } from "../../../src/activity/call.ts";

/** Of the person who is there without sign-in, newest first. */
export async function localCalls(): Promise<readonly ListedCall[]> {
  return (await activitiesIn(env).calls({ person: "local" }, 5000)).calls;
}

/** Everything that is stored in any of them, as text. */
export async function everythingKept(): Promise<string> {
  const ids = await listDurableObjectIds(env.ACTIVITIES);
  const all = await Promise.all(
    ids.map((id) =>
      runInDurableObject(env.ACTIVITIES.get(id), (_, { storage }) => {
        const tables = storage.sql.exec<{ name: string }>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
        );
        const rows = [...tables].map(({ name }) => [
          ...storage.sql.exec(`SELECT * FROM "${name}"`),
        ]);
        return JSON.stringify([rows, [...storage.kv.list()]]);
      }),
    ),
  );
  return all.join("\n");
}
