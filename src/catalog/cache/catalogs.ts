/**
 * The catalogs that this isolate knows. A call is routed by the known catalog; a list is returned
 * only after the feed of each server was asked whether its catalog is still current.
 */

import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { Limits } from "../../policy/limits.ts";
import { type ClientKind, clientKey } from "../../endpoint/client-kind.ts";
import type { Feed } from "../feeds.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../request-scope.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "../catalog.ts";
import { type Kept, KeptCatalogs } from "./kept-catalogs.ts";

export interface Known {
  readonly server: Server;
  readonly catalog: Catalog | undefined;
  /** The server is unavailable, or was at the last request. */
  readonly trouble: Trouble | undefined;
  readonly freshMs: number;
}

type Context = Pick<RequestScope, "feeds" | "limits">;

const HOUR_MS = 3_600_000;
const FIVE_MINUTES_MS = 300_000;
const MAX_WEIGHT = 32 * 1024 * 1024;
const catalogs = new KeptCatalogs({ maxWeight: MAX_WEIGHT, ttlMs: HOUR_MS });

/** Milliseconds that a feed may take beyond the wait in the question. */
const GRACE_MS = 1000;
/** Clocks differ: a wait of at least this part of the time counts as all of it. */
const IN_VAIN = 0.9;

/** For routing: the catalog known here, or the feed's if that is missing or old. Never rejects. */
export async function knownCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
): Promise<Known> {
  const { limits } = context;
  const kept = catalogs.get(keyOf(server, client));
  // A server without a catalog may have one soon, but not every call has to wait for it.
  const goodMs = kept?.catalog === undefined ? limits.pauseSeconds * 1000 : FIVE_MINUTES_MS;
  if (kept !== undefined && Date.now() - kept.askedAt < goodMs) return knownFrom(server, kept);
  // Any catalog will do, so no call waits for a newer one if there is one.
  const atOnce = await ask(context, server, { client, waitMs: 0 });
  return atOnce.catalog === undefined ? currentCatalog(context, server, client) : atOnce;
}

/**
 * For lists: the newest catalog available within `catalogWaitMilliseconds`. Never rejects.
 *
 * @param isDoubted the server's behaviour contradicted the catalog known here.
 */
export function currentCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
  isDoubted = false,
): Promise<Known> {
  const kept = catalogs.get(keyOf(server, client));
  const isHasty = kept !== undefined && Date.now() < kept.hastyUntil;
  const waitMs = isHasty ? 0 : context.limits.catalogWaitMilliseconds;
  return ask(context, server, { client, waitMs, ...(isDoubted ? { isDoubted } : {}) });
}

/**
 * For the later pages of a list: the catalog of its first page, if that was a moment ago. Never
 * rejects.
 */
export async function recentCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
): Promise<Known> {
  const kept = catalogs.get(keyOf(server, client));
  const isRecent =
    kept !== undefined && Date.now() - kept.askedAt < context.limits.catalogFreshSeconds * 1000;
  return isRecent ? knownFrom(server, kept) : currentCatalog(context, server, client);
}

/** All users share the operator's credentials, so a catalog is the same for all of them. */
function keyOf({ slug, target }: Server, client: ClientKind): string {
  return JSON.stringify([slug, target.endpoint.href, clientKey(client)]);
}

function knownFrom(server: Server, { catalog, trouble, freshUntil }: Kept): Known {
  return { server, catalog, trouble, freshMs: Math.max(0, freshUntil - Date.now()) };
}

async function ask(
  { feeds, limits }: Context,
  server: Server,
  asked: Omit<CatalogQuestion, "known">,
): Promise<Known> {
  const { client, waitMs } = asked;
  const key = keyOf(server, client);
  const before = catalogs.get(key);
  const question = { ...asked, known: before?.catalog?.version };
  const startedAt = Date.now();
  const answering = askTwice(() => feeds.of(server.slug), question);
  const answer = await settleWithin(answering, waitMs + GRACE_MS);

  const now = Date.now();
  const isInVain = waitMs > 0 && now - startedAt >= waitMs * IN_VAIN;
  const hastyUntil = isInVain ? now + limits.pauseSeconds * 1000 : (before?.hastyUntil ?? 0);
  // Another request may have updated the entry meanwhile.
  const latest = catalogs.get(key);
  const told = keptFrom(answer, before, { server, now, hastyUntil, latest, limits });
  const isOvertaken = answer?.kind !== "catalog" && latest !== before;
  // An empty answer says nothing if the request did not wait.
  const isNothing = waitMs === 0 && told.catalog === undefined && before?.catalog === undefined;
  if (!isOvertaken && !isNothing) catalogs.set(key, told);
  return knownFrom(server, told);
}

/** Objects restart; a question can be repeated without harm. @returns `undefined` if both fail. */
async function askTwice(
  feed: () => Feed,
  question: CatalogQuestion,
): Promise<CatalogAnswer | undefined> {
  try {
    return await feed().catalog(question);
  } catch {
    // Only the second failure is logged.
  }
  try {
    return await feed().catalog(question);
  } catch (error) {
    logUnexpected(error);
    return undefined;
  }
}

interface Circumstances {
  readonly server: Server;
  readonly now: number;
  readonly hastyUntil: number;
  /** The entry that is kept by now. */
  readonly latest: Kept | undefined;
  readonly limits: Pick<Limits, "staleCatalogHours">;
}

function keptFrom(
  answer: CatalogAnswer | undefined,
  before: Kept | undefined,
  { server, now, hastyUntil, latest, limits }: Circumstances,
): Kept {
  const told = { askedAt: now, hastyUntil, seenAt: before?.seenAt ?? 0 };
  if (answer?.kind === "none") {
    const { trouble } = answer;
    // The feed may have evicted a catalog that is known here; one that is too old is not shown.
    const isServable =
      now - told.seenAt <= limits.staleCatalogHours * HOUR_MS && trouble.reason !== "unconfigured";
    const catalog = isServable ? before?.catalog : undefined;
    return { ...told, catalog, trouble, freshUntil: now };
  }
  if (answer === undefined || (answer.kind === "same" && before?.catalog === undefined)) {
    const since = before?.trouble?.reason === "gateway" ? before.trouble.since : now;
    const message = `The gateway cannot tell at the moment what upstream "${server.slug}" has`;
    const trouble = { reason: "gateway", message, since };
    // The feed has not confirmed the catalog that is known here.
    const askedAt = before?.askedAt ?? now;
    return { ...told, askedAt, catalog: before?.catalog, trouble, freshUntil: now };
  }
  const { trouble, freshMs } = answer;
  const seenAt = trouble?.since ?? now;
  if (answer.kind === "same") {
    return { ...told, seenAt, catalog: before?.catalog, trouble, freshUntil: now + freshMs };
  }
  // Derived values are kept by catalog object, so one object stands for each version.
  const isThere = latest?.catalog?.version === answer.catalog.version;
  const catalog = isThere ? latest.catalog : answer.catalog;
  return { ...told, seenAt, catalog, trouble, freshUntil: now + freshMs };
}
