/**
 * The catalogs that this isolate holds: copies of those that the feeds keep. A call is routed by the copy; a
 * list is returned only after the feed of each server was asked whether the copy is still current.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { retry, type RetryOptions } from "../../lib/retry.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { Limits } from "../../policy/limits.ts";
import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import type { Server } from "../../endpoint/server.ts";
import {
  type Catalog,
  type CatalogAnswer,
  type CatalogQuestion,
  LIST_KINDS,
  type Trouble,
} from "../catalog.ts";
import { unconnected } from "./unconnected.ts";
import { entryWeight } from "../read/byte-budget.ts";
import type { RequestScope } from "../request-scope.ts";
import type { Credentials } from "../../upstream/credentials.ts";
import { publishedKey, serverKey, vaultKey } from "../../upstream/server-key.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";

export interface Known {
  readonly server: Server;
  readonly catalog: Catalog | undefined;
  /** The server is unavailable, or was at the last request. */
  readonly trouble: Trouble | undefined;
  readonly freshMs: number;
  /** The caller has no account there, and the catalog is the gateway's own. */
  readonly isUnconnected?: true;
  /** Who has not answered, and is to announce what it has: the feed, or the vault with the caller's account. */
  readonly announcer?: Announcer;
}

/** Can tell whoever listens that lists may be others than they were given. */
export interface Announcer {
  /** Of the server, or of the vault (`serverKey`, `vaultKey`). */
  readonly key: string;
  readonly announce: () => Promise<void>;
}

type Context = Pick<RequestScope, "feeds" | "limits">;

/** The last answer of a feed. Times are in milliseconds since 1970. */
interface Copy {
  readonly catalog: Catalog | undefined;
  readonly trouble: Trouble | undefined;
  /** No change is expected until then. */
  readonly freshUntil: number;
  /** The time when the feed was asked that last confirmed it: the catalog is of then, or later. */
  readonly askedAt: number;
  /** The time when the server was last known to have the catalog; without one, meaningless. */
  readonly seenAt: number;
  /** A wait for the catalog failed: until this time, no request waits for it again. */
  readonly noWaitUntil: number;
}

const HOUR_MS = 3_600_000;
const FIVE_MINUTES_MS = 300_000;
const MAX_WEIGHT = 32 * 1024 * 1024;
/** A copy in use is set again with each answer of its feed. */
const copies = new BoundedCache<Copy>({ maxWeight: MAX_WEIGHT });

/** Milliseconds that a feed may take beyond the wait in the question. */
const GRACE_MS = 1000;
/** A feed that was restarted is back at once, and one that is overloaded has more room in a moment. */
const FEED_RETRIES = { attempts: 2, backoff: { firstMs: 50 } } satisfies RetryOptions;
/** A vault that was restarted is back at once. Another one is asked again for a second. */
const VAULT_RETRIES = { attempts: 8, backoff: { firstMs: 10 } } satisfies RetryOptions;
/** Clocks differ: a wait of at least this part of the time counts as all of it. */
const IN_VAIN = 0.9;

/** For routing: the catalog known here, or the feed's if that is missing or old. Never rejects. */
export async function knownCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
): Promise<Known> {
  const { limits } = context;
  const found = keyOf(server);
  const key = typeof found === "string" ? found : await found;
  if (typeof key !== "string") return key;
  const copy = copyOf(copyKey(key, server, client));
  // A server without a catalog may have one soon, but not every call has to wait for it.
  const goodMs = copy?.catalog === undefined ? limits.pauseSeconds * 1000 : FIVE_MINUTES_MS;
  if (copy !== undefined && Date.now() - copy.askedAt < goodMs) return knownFrom(server, copy);
  // Any catalog will do, so no call waits for a newer one if there is one.
  const present = await ask(context, server, key, { client, waitMs: 0, isForRouting: true });
  return present.catalog === undefined ? currentCatalog(context, server, client) : present;
}

/**
 * For lists: the newest catalog available within `catalogWaitMilliseconds`. Never rejects.
 *
 * @param isDoubted the server's behaviour contradicted the catalog known here.
 */
export async function currentCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
  isDoubted = false,
): Promise<Known> {
  const found = keyOf(server);
  const key = typeof found === "string" ? found : await found;
  if (typeof key !== "string") return key;
  const copy = copyOf(copyKey(key, server, client));
  const mayWait = copy === undefined || Date.now() >= copy.noWaitUntil;
  const waitMs = mayWait ? context.limits.catalogWaitMilliseconds : 0;
  const asked = { client, waitMs, ...(isDoubted ? { isDoubted } : {}) };
  const answered = await ask(context, server, key, asked);
  if (answered.trouble?.reason !== "account" && answered.isUnconnected !== true) return answered;
  // The account is that of some seconds ago: its person may have connected another one since.
  server.target.credentials?.changed();
  const latest = await keyOf(server);
  if (latest === key) return answered;
  return typeof latest === "string" ? ask(context, server, latest, asked) : latest;
}

/**
 * For the later pages of a list: the catalog of its first page, if that was a moment ago. Never
 * rejects.
 *
 * @param since when the first page was asked for. The client may have been told of a change before that, and the copy
 *   of another isolate may be older.
 */
export async function recentCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
  since: number,
): Promise<Known> {
  const found = keyOf(server);
  const key = typeof found === "string" ? found : await found;
  if (typeof key !== "string") return key;
  const copy = copyOf(copyKey(key, server, client));
  const isRecent =
    copy !== undefined &&
    copy.askedAt >= since &&
    Date.now() - copy.askedAt < context.limits.catalogFreshSeconds * 1000;
  return isRecent ? knownFrom(server, copy) : currentCatalog(context, server, client);
}

/** Where all callers share, a catalog is the same for all of them; else it is of one account. */
function keyOf(server: Server): string | Promise<string | Known> {
  const { slug, target } = server;
  const { credentials } = target;
  return credentials === undefined ? ownKey(slug, target) : keyOfAccount(server, credentials);
}

/** @returns what is known of the server if the caller has no account there, or the vault cannot be asked. */
async function keyOfAccount(server: Server, credentials: Credentials): Promise<string | Known> {
  const { target } = server;
  try {
    const key = await retry(() => serverKey(target), VAULT_RETRIES);
    if (key === undefined) accountKeys.delete(target);
    else accountKeys.set(target, key);
    return key ?? withoutAccount(server);
  } catch (error) {
    logUnexpected(error);
    const trouble = untold(server, Date.now());
    const announce = (): Promise<void> => credentials.announce();
    const announcer = { key: vaultKey(credentials.owner), announce };
    return { server, catalog: undefined, trouble, freshMs: 0, announcer };
  }
}

/** Of a server without accounts. */
function ownKey(slug: string, { publisher }: UpstreamTarget): string {
  return publisher === undefined ? slug : publishedKey(slug, publisher);
}

/** The catalog that this isolate has of a server, as far as that shows without asking anybody. */
export function catalogAtHand(server: Server, client: ClientKind): Catalog | undefined {
  const { slug, target } = server;
  const key = target.credentials === undefined ? ownKey(slug, target) : accountKeys.get(target);
  return key === undefined ? undefined : copyOf(copyKey(key, server, client))?.catalog;
}

/** The last key that was found for a server with accounts, as one request sees it. */
const accountKeys = new WeakMap<UpstreamTarget, string>();

function copyKey(key: string, { target }: Server, client: ClientKind): string {
  return JSON.stringify([key, target.endpoint.href, clientKey(client)]);
}

function withoutAccount(server: Server): Known {
  return { ...unconnected(server), trouble: undefined, freshMs: 0, isUnconnected: true };
}

function copyOf(key: string): Copy | undefined {
  const copy = copies.get(key);
  return copy !== undefined && Date.now() - copy.askedAt < HOUR_MS ? copy : undefined;
}

function knownFrom(server: Server, { catalog, trouble, freshUntil }: Copy): Known {
  // The account cannot be used, and nothing was read with it before.
  if (catalog === undefined && trouble?.reason === "account") return withoutAccount(server);
  return { server, catalog, trouble, freshMs: Math.max(0, freshUntil - Date.now()) };
}

async function ask(
  { feeds, limits }: Context,
  server: Server,
  feedKey: string,
  asked: Omit<CatalogQuestion, "known">,
): Promise<Known> {
  const { client, waitMs } = asked;
  const key = copyKey(feedKey, server, client);
  const before = copyOf(key);
  const question = { ...asked, known: before?.catalog?.version };
  const startedAt = Date.now();
  // Objects restart; a question can be repeated without harm.
  const asking = retry(() => feeds.of(feedKey).catalog(question), FEED_RETRIES);
  const answering = asking.catch((error: unknown) => {
    logUnexpected(error);
    return undefined;
  });
  const answer = await settleWithin(answering, waitMs + GRACE_MS);

  const now = Date.now();
  const isInVain = waitMs > 0 && now - startedAt >= waitMs * IN_VAIN;
  const noWaitUntil = isInVain ? now + limits.pauseSeconds * 1000 : (before?.noWaitUntil ?? 0);
  // Another request may have updated the copy meanwhile.
  const latest = copyOf(key);
  const after = copyFrom(answer, before, { server, startedAt, now, noWaitUntil, latest, limits });
  const isOvertaken = answer?.kind !== "catalog" && latest !== before;
  // An empty answer says nothing if the request did not wait.
  const isNothing = waitMs === 0 && after.catalog === undefined && before?.catalog === undefined;
  if (!isOvertaken && !isNothing) copies.set(key, after, weightOf(after.catalog));
  const known = knownFrom(server, after);
  if (answer !== undefined) return known;
  return { ...known, announcer: { key: feedKey, announce: () => feeds.of(feedKey).announce() } };
}

function untold({ slug }: Server, since: number): Trouble {
  const message = `The gateway cannot tell at the moment what upstream "${slug}" has`;
  return { reason: "gateway", message, since };
}

interface Circumstances {
  readonly server: Server;
  readonly startedAt: number;
  readonly now: number;
  readonly noWaitUntil: number;
  /** The copy that is held by now. */
  readonly latest: Copy | undefined;
  readonly limits: Pick<Limits, "staleCatalogHours">;
}

function copyFrom(
  answer: CatalogAnswer | undefined,
  before: Copy | undefined,
  { server, startedAt, now, noWaitUntil, latest, limits }: Circumstances,
): Copy {
  const base = { askedAt: now, noWaitUntil, seenAt: before?.seenAt ?? 0 };
  if (answer?.kind === "none") {
    const { trouble } = answer;
    // The feed may have evicted a catalog that is known here; one that is too old is not shown.
    const isServable =
      now - base.seenAt <= limits.staleCatalogHours * HOUR_MS && trouble.reason !== "unconfigured";
    const catalog = isServable ? before?.catalog : undefined;
    return { ...base, catalog, trouble, freshUntil: now };
  }
  if (answer === undefined || (answer.kind === "same" && before?.catalog === undefined)) {
    const since = before?.trouble?.reason === "gateway" ? before.trouble.since : now;
    const trouble = untold(server, since);
    // The feed has not confirmed the catalog that is known here.
    const askedAt = before?.askedAt ?? now;
    return { ...base, askedAt, catalog: before?.catalog, trouble, freshUntil: now };
  }
  const { trouble, freshMs } = answer;
  const confirmed = {
    ...{ noWaitUntil, trouble, askedAt: startedAt },
    seenAt: trouble?.since ?? now,
    freshUntil: now + freshMs,
  };
  if (answer.kind === "same") return { ...confirmed, catalog: before?.catalog };
  // Derived values are kept by catalog object, so one object stands for each version.
  const isThere = latest?.catalog?.version === answer.catalog.version;
  const catalog = isThere ? latest.catalog : answer.catalog;
  return { ...confirmed, catalog };
}

const weights = new WeakMap<Catalog, number>();

function weightOf(catalog: Catalog | undefined): number {
  let weight = entryWeight();
  if (catalog === undefined) return weight;
  const known = weights.get(catalog);
  if (known !== undefined) return known;
  for (const list of LIST_KINDS) {
    for (const { name, text } of catalog.lists[list]) weight += entryWeight(name, text);
  }
  weights.set(catalog, weight);
  return weight;
}
