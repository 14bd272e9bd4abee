/** The feed of one upstream as a test asks it, and what it does to its object. */

import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { FeedObject } from "../../durable-objects/feed-object.ts";
import { feedName, feedsIn } from "../../durable-objects/ports.ts";
import type { ClientKind } from "../../src/endpoint/client-kind.ts";
import type { CatalogAnswer, CatalogQuestion } from "../../src/catalog/catalog.ts";
import type { Feed } from "../../src/catalog/feeds.ts";
import { until, within } from "./bounded.ts";
import type { Upstream } from "./upstream.ts";

export const LEGACY: ClientKind = { revision: "2025-06-18", capabilities: {} };
export const MODERN: ClientKind = { revision: "2026-07-28", capabilities: {} };

export function feedOf({ slug }: Upstream): Feed {
  return feedsIn(env).of(slug);
}

/** Longer than the pause after which a feed reads its lists once more when its watch was opened. */
const PAUSE_MS = 6000;

/** Resolves when the feeds have nothing to do soon: they have read their lists since they began to watch. */
export async function atRest(...upstreams: readonly Upstream[]): Promise<void> {
  for (const upstream of upstreams) {
    await until(async () => {
      const alarm = await runInDurableObject(objectOf(upstream), (_instance, { storage }) =>
        storage.getAlarm(),
      );
      return (alarm ?? Infinity) > Date.now() + PAUSE_MS || undefined;
    }, `the feed of "${upstream.slug}" to be at rest`);
  }
}

/** Asks as the list of a client does. */
export function ask(
  upstream: Upstream,
  question: Partial<CatalogQuestion> = {},
): Promise<CatalogAnswer> {
  const asked = { client: LEGACY, waitMs: 5000, ...question };
  return within(feedOf(upstream).catalog(asked), "the feed's answer");
}

/** What an answer comes to, in short: the names of the tools, and the reason of the trouble. */
export function short(answer: CatalogAnswer): string {
  const reason = answer.trouble === undefined ? "" : ` (${answer.trouble.reason})`;
  if (answer.kind !== "catalog") return answer.kind + reason;
  return answer.catalog.lists.tools.map(({ name }) => name).join(" ") + reason;
}

export function objectOf({ slug }: Upstream): DurableObjectStub<FeedObject> {
  return env.FEEDS.get(env.FEEDS.idFromName(feedName(slug)));
}

/** How an object's memory goes. */
export const WAYS_TO_LOSE: readonly {
  readonly name: string;
  readonly lose: (upstream: Upstream) => Promise<void>;
}[] = [
  {
    name: "is evicted",
    lose: (upstream) => within(evictDurableObject(objectOf(upstream)), "it to be let go"),
  },
  { name: "is lost", lose: () => abortAllDurableObjects() },
];

/** The next life of the object after a deploy that has changed the servers. */
export function afterDeploy<T>(
  upstream: Upstream,
  servers: Readonly<Record<string, object>>,
  act: (next: FeedObject, state: DurableObjectState) => Promise<T>,
): Promise<T> {
  return runInDurableObject(objectOf(upstream), async (_instance, state) => {
    const next = new FeedObject(state, { ...env, MCP_SERVERS: JSON.stringify(servers) });
    // What the constructor waits for.
    await state.blockConcurrencyWhile(() => Promise.resolve());
    return act(next, state);
  });
}

/** How many rows there are of each table, and when the alarm rings. */
export function storedBy(
  upstream: Upstream,
): Promise<{ readonly rows: Readonly<Record<string, number>>; readonly alarm: number | null }> {
  return runInDurableObject(objectOf(upstream), async (_instance, { storage }) => {
    const { sql } = storage;
    const tables = sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'catalog%' ORDER BY name",
    );
    const count = (table: string): number =>
      sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n;
    const rows = Array.from(tables, ({ name }) => [name, count(name)] as const);
    return { rows: Object.fromEntries(rows), alarm: await storage.getAlarm() };
  });
}
