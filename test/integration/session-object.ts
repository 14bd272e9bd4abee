/** What a test sees of the object behind a session id, and does to it; clients see none of it. */

import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import type { SessionObject } from "../../durable-objects/session-object.ts";
import { mintSessionId, readSessionId, type SessionClaims } from "../../src/sessions/session-id.ts";
import { SessionKeys } from "../../src/endpoint/keyring.ts";
import { within } from "./bounded.ts";
import type { SseSession } from "./sse-client.ts";

/** The keys of the gateway under test. */
function keys(): SessionKeys {
  return new SessionKeys(() => env.REGISTRY.getByName("registry").sessionKeys());
}

/** What a session id says, also one that has expired. */
export async function claimsOf(id: string): Promise<SessionClaims> {
  const claims = await readSessionId(keys(), id, 0);
  if (claims === undefined) throw new Error(`Not a session id: ${id}`);
  return claims;
}

/** Mints an id as the gateway would. */
export async function mint(claims: SessionClaims): Promise<string> {
  return mintSessionId(await keys().keyring(), claims);
}

/** The id in the endpoint of a session of HTTP+SSE. */
export function sseSessionId({ endpoint }: SseSession): string {
  return new URL(endpoint, "http://x").searchParams.get("sessionId") ?? "";
}

interface Named {
  readonly id: string;
}

/** A stub for each use: one whose object was lost stays broken. */
export async function objectOf({ id }: Named): Promise<DurableObjectStub<SessionObject>> {
  return env.SESSIONS.get(env.SESSIONS.idFromString((await claimsOf(id)).object));
}

/** With a bound: an object that has nothing to do is let go at once. */
export async function evict(session: Named): Promise<void> {
  const object = await objectOf(session);
  // Of a session that was never used there is none yet, and only one that runs can be evicted.
  await runInDurableObject(object, () => undefined);
  await within(evictDurableObject(object), "an idle object to be let go");
}

/** How an object's memory goes, and whether its connections go with it. */
export const WAYS_TO_LOSE: readonly {
  readonly name: string;
  readonly lose: (session: Named) => Promise<void>;
  readonly isAbrupt: boolean;
}[] = [
  { name: "is evicted", lose: evict, isAbrupt: false },
  // Without a warning, and every other one with it.
  { name: "is lost", lose: () => abortAllDurableObjects(), isAbrupt: true },
];

export interface Stored {
  readonly keys: readonly string[];
  readonly tables: readonly string[];
  readonly alarm: number | null;
}

export const NOTHING: Stored = { keys: [], tables: [], alarm: null };

/** Everything that an object has stored, and when its alarm rings. */
export async function storedIn(session: Named): Promise<Stored> {
  return runInDurableObject(await objectOf(session), async (_instance, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY name",
    );
    return {
      keys: [...storage.kv.list()].map(([key]) => key).toSorted(),
      tables: [...tables].map(({ name }) => name),
      alarm: await storage.getAlarm(),
    };
  });
}

/** The rows of an object's log. */
export async function loggedIn(session: Named): Promise<number> {
  return runInDurableObject(await objectOf(session), (_instance, { storage }) => {
    const exists = "SELECT 1 FROM sqlite_master WHERE name = 'events_1'";
    if ([...storage.sql.exec(exists)].length === 0) return 0;
    return [...storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM events_1")][0]?.n ?? 0;
  });
}

/** How many of the client's answers are kept for its servers. */
export async function answersToBring(session: Named): Promise<number> {
  return runInDurableObject(await objectOf(session), (_instance, { storage }) => {
    const query = "SELECT count(*) AS n FROM answers_1 WHERE reply != ''";
    return storage.sql.exec<{ n: number }>(query).one().n;
  });
}
