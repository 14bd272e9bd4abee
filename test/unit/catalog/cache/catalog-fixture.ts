/** A catalog cache on a database of its own, with a server and a clock that the test controls. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import type { ClientKind } from "../../../../src/endpoint/client-kind.ts";
import {
  type Catalog,
  type CatalogAnswer,
  type CatalogQuestion,
  LIST_KINDS,
  type ListKind,
} from "../../../../src/catalog/catalog.ts";
import type { ReadCatalog } from "../../../../src/catalog/read/read-catalog.ts";
import {
  CatalogCache,
  type CatalogCacheParts,
} from "../../../../src/catalog/cache/catalog-cache.ts";
import { ServerHistory } from "../../../../src/catalog/cache/server-history.ts";
import type { Topic } from "../../../../src/catalog/feeds.ts";
import { defaultLimits, type Limits } from "../../../../src/policy/limits.ts";
import { UpstreamError } from "../../../../src/upstream/upstream-error.ts";
import { START } from "../../lib/sql-fixture.ts";

export const LEGACY: ClientKind = { revision: "2025-06-18", capabilities: {} };
export const MODERN: ClientKind = { revision: "2026-07-28", capabilities: {} };

type Names = Partial<Record<ListKind, readonly string[]>>;

/** A catalog of things that have nothing but a name. Its version says all that is in it. */
export function catalogOf(names: Names, extra: Partial<Catalog> = {}): Catalog {
  const itemsOf = (list: ListKind): Catalog["lists"][ListKind] =>
    (names[list] ?? []).map((name) => ({ name, text: JSON.stringify({ name }) }));
  const lists = Object.fromEntries(LIST_KINDS.map((list) => [list, itemsOf(list)]));
  const about = {
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "s" },
    instructions: undefined,
  };
  const read = { era: "legacy", about, lists: lists as Catalog["lists"] } as const;
  const catalog = { ...read, flaws: [], faults: [], isPublic: false, ...extra };
  return { ...catalog, version: extra.version ?? JSON.stringify([names, extra]) };
}

const failure = (): UpstreamError => new UpstreamError("docs", "unreachable", "cannot be reached");

/** One reading of the server that is under way. */
interface Attempt {
  readonly client: ClientKind;
  readonly signal: AbortSignal;
  readonly answer: (catalog: Catalog, ttlMs?: number) => void;
  readonly fail: (error?: Error) => void;
}

/** What the cache sees of its surroundings, and what it did to them. */
export interface Scene {
  now: number;
  readonly attempts: Attempt[];
  /** What the server says by itself; until it is set, each attempt waits for the test. */
  server: (() => ReadCatalog) | undefined;
  readonly covered: Set<Topic>;
  readonly announced: (readonly Topic[])[];
  isWanted: boolean;
  /** Every branch receives at once what is announced. */
  isReceived: boolean;
  dueCalls: number;
  readonly kept: Promise<unknown>[];
  readonly sql: SqlStorage;
  /** What the feed remembers, in memory. */
  readonly history: ServerHistory;
  /** A cache, or the next life of one: what it knows is on the database. */
  readonly cache: (parts?: Partial<CatalogCacheParts>) => CatalogCache;
}

export function withScene<T>(
  act: (scene: Scene) => Promise<T>,
  limits: Partial<Limits> = {},
): Promise<T> {
  const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(object, async (_instance, { storage }) => {
    const over = new AbortController();
    const scene: Scene = {
      ...{ now: START, attempts: [], server: undefined, covered: new Set(), announced: [] },
      ...{ isWanted: false, isReceived: true, dueCalls: 0, kept: [], sql: storage.sql },
      history: new ServerHistory({ read: () => undefined, write: () => undefined }),
      cache: (parts) => {
        const cache = new CatalogCache({
          ...{ slug: "docs", endpoint: "https://docs.example/mcp" },
          storage: {
            sql: storage.sql,
            transaction: (work) => storage.transactionSync(work),
          },
          limits: { ...defaultLimits(), ...limits },
          now: () => scene.now,
          read: (client, signal) => attempt(scene, client, signal),
          covers: (topic) => scene.covered.has(topic),
          announce: (topics) => {
            scene.announced.push([...topics].toSorted());
            if (scene.isReceived) cache.sent();
          },
          isWanted: () => scene.isWanted,
          history: scene.history,
          over: over.signal,
          waitUntil: (work) => void scene.kept.push(work),
          onDue: () => void (scene.dueCalls += 1),
          ...parts,
        });
        return cache;
      },
    };
    // What still goes on would set timers in a later test, whose clock may be a fake one.
    return act(scene).finally(() => over.abort(new Error("The test is over")));
  });
}

function attempt(scene: Scene, client: ClientKind, signal: AbortSignal): Promise<ReadCatalog> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadCatalog>();
  scene.attempts.push({
    ...{ client, signal },
    answer: (catalog, ttlMs) => resolve({ catalog, ttlMs }),
    fail: (error = failure()) => reject(error),
  });
  const { server } = scene;
  if (server !== undefined) {
    try {
      resolve(server());
    } catch (error) {
      reject(error);
    }
  }
  return promise;
}

/** The server has this, until it is said otherwise. */
export function serves(scene: Scene, catalog: Catalog, ttlMs?: number): void {
  scene.server = () => ({ catalog, ttlMs });
}

export function fails(scene: Scene, error: Error = failure()): void {
  scene.server = () => {
    throw error;
  };
}

/** Asks as the list of a client does; nothing here takes that long. */
export function ask(
  cache: CatalogCache,
  question: Partial<CatalogQuestion> = {},
): Promise<CatalogAnswer> {
  return cache.catalog({ client: LEGACY, waitMs: 5000, ...question });
}

/** What an answer comes to, in short: the names of the tools, and the reason of the trouble. */
export function short(answer: CatalogAnswer): string {
  const reason = answer.trouble === undefined ? "" : ` (${answer.trouble.reason})`;
  if (answer.kind !== "catalog") return answer.kind + reason;
  return answer.catalog.lists.tools.map(({ name }) => name).join(" ") + reason;
}

export const ONE = catalogOf({ tools: ["one"] });
export const TWO = catalogOf({ tools: ["two"] });
export const ALL_LISTS = ["prompts", "resources", "tools"];

/** A cache that knows a catalog of a server which has just failed. */
export async function failing(scene: Scene): Promise<CatalogCache> {
  const cache = scene.cache();
  serves(scene, ONE);
  await ask(cache);
  scene.now += 10_000;
  fails(scene);
  await ask(cache);
  return cache;
}
