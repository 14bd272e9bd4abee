/**
 * The catalogs that this isolate knows. A call is routed by what is here, however old; a list is
 * told only after the feed of each server was asked whether it still is so.
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
  /** The server is not to be had, or was not when it was asked last. */
  readonly trouble: Trouble | undefined;
  readonly freshMs: number;
}

type Context = Pick<RequestScope, "feeds" | "limits">;

const HOUR_MS = 3_600_000;
const FIVE_MINUTES_MS = 300_000;
const MAX_WEIGHT = 32 * 1024 * 1024;
const catalogs = new KeptCatalogs({ maxWeight: MAX_WEIGHT, ttlMs: HOUR_MS });

/** How much longer than it was told to wait a feed may take. */
const GRACE_MS = 1000;
/** Clocks tick apart: who waited for this part of the time has waited for all of it. */
const IN_VAIN = 0.9;

/** For routing: what is known here, and the feed's only where nothing is. Never rejects. */
export async function knownCatalog(
  context: Context,
  server: Server,
  client: ClientKind,
): Promise<Known> {
  const { limits } = context;
  const kept = catalogs.get(keyOf(server, client));
  // A server without a catalog may have one soon; but not every call has to wait for it.
  const goodMs = kept?.catalog === undefined ? limits.pauseSeconds * 1000 : FIVE_MINUTES_MS;
  if (kept !== undefined && Date.now() - kept.askedAt < goodMs) return knownFrom(server, kept);
  // Anything will do, so nobody waits for something newer where there is something.
  const atOnce = await ask(context, server, { client, waitMs: 0 });
  return atOnce.catalog === undefined ? currentCatalog(context, server, client) : atOnce;
}

/**
 * For lists: as new as can be had in `catalogWaitMilliseconds`. Never rejects.
 *
 * @param isDoubted the server has refused what is known here.
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
 * For the later pages of a list: what its first page was made of, if that was a moment ago. Never
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
  // Others may have learned something meanwhile.
  const latest = catalogs.get(key);
  const told = keptFrom(answer, before, { server, now, hastyUntil, latest, limits });
  const isOvertaken = answer?.kind !== "catalog" && latest !== before;
  // Who did not wait has learned nothing by an empty answer.
  const isNothing = waitMs === 0 && told.catalog === undefined && before?.catalog === undefined;
  if (!isOvertaken && !isNothing) catalogs.set(key, told);
  return knownFrom(server, told);
}

/** Objects restart; a question can be put again without harm. @returns `undefined` if both failed. */
async function askTwice(
  feed: () => Feed,
  question: CatalogQuestion,
): Promise<CatalogAnswer | undefined> {
  try {
    return await feed().catalog(question);
  } catch {
    // The second failure says it.
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
  /** What is kept by now. */
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
    // The feed may have had to forget what is known here; but of what is too old, nobody tells.
    const isServable =
      now - told.seenAt <= limits.staleCatalogHours * HOUR_MS && trouble.reason !== "unconfigured";
    const catalog = isServable ? before?.catalog : undefined;
    return { ...told, catalog, trouble, freshUntil: now };
  }
  if (answer === undefined || (answer.kind === "same" && before?.catalog === undefined)) {
    const since = before?.trouble?.reason === "gateway" ? before.trouble.since : now;
    const message = `The gateway cannot tell at the moment what upstream "${server.slug}" has`;
    const trouble = { reason: "gateway", message, since };
    // Nobody has said that what is here still is so.
    const askedAt = before?.askedAt ?? now;
    return { ...told, askedAt, catalog: before?.catalog, trouble, freshUntil: now };
  }
  const { trouble, freshMs } = answer;
  const seenAt = trouble?.since ?? now;
  if (answer.kind === "same") {
    return { ...told, seenAt, catalog: before?.catalog, trouble, freshUntil: now + freshMs };
  }
  // What is derived from a catalog is kept beside it, so that one object stands for a version.
  const isThere = latest?.catalog?.version === answer.catalog.version;
  const catalog = isThere ? latest.catalog : answer.catalog;
  return { ...told, seenAt, catalog, trouble, freshUntil: now + freshMs };
}
