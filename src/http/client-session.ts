/** The session that a request opens, or names: its id is sealed, and holds all facts about it. */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { isPersonalized } from "../endpoint/personal-endpoint.ts";
import type { ClientFacts } from "../sessions/dispatch.ts";
import {
  mintSessionId,
  readSessionId,
  type SessionClaims,
  writeClaims,
} from "../sessions/session-id.ts";
import { sessionNotFound } from "./answers.ts";
import type { FrontDoorContext, SessionStub } from "./front-door.ts";

const DAY_SECONDS = 86_400;

/**
 * Opens a session. No object is woken.
 *
 * @param client as `initialize` described it; HTTP+SSE mints its id before that.
 */
export async function openSession(
  context: FrontDoorContext,
  client?: ClientFacts,
): Promise<{ readonly id: string; readonly claims: SessionClaims }> {
  const { keys, principal, route, sessions, limits } = context;
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims: SessionClaims = {
    object: sessions.create(),
    principal,
    route,
    ...(client === undefined ? {} : { client }),
    issuedAt,
    expiresAt: issuedAt + limits.sessionDays * DAY_SECONDS,
  };
  const id = await mintSessionId(await keys.keyring(), claims);
  return { id, claims: withCaller(context, claims) };
}

/**
 * The session's object has to know whose accounts it may use, and whom it may tell what only administrators can
 * repair: a mistake in the configuration, and the account that all share.
 */
function withCaller(
  context: Pick<
    FrontDoorContext,
    "application" | "endpoint" | "isAdmin" | "origin" | "person" | "published" | "publisher"
  >,
  claims: SessionClaims,
): SessionClaims {
  const { endpoint, person, application, origin, isAdmin, publisher, published } = context;
  const hasNotices = (endpoint.notices ?? []).length > 0;
  const isRepaired =
    hasNotices || endpoint.servers.some(({ auth }) => auth.kind === "oauth-shared");
  const noted = isRepaired && isAdmin === true ? { ...claims, isAdmin } : claims;
  if (!isPersonalized(endpoint) && publisher === undefined) return noted;
  const who = { ...noted, person, application, origin };
  if (published === undefined) return who;
  const { version, servers } = published;
  return { ...who, published: { version, names: servers.map(({ name }) => name) } };
}

export interface FoundSession {
  readonly claims: SessionClaims;
  /** @returns the session's object, for one call. */
  readonly object: () => SessionStub;
}

const TEN_MINUTES_MS = 600_000;
/** Sessions deleted through this isolate: requests that wake no object are refused at once as well. */
const deleted = new BoundedCache<true>({ maxEntries: 10_000, ttlMs: TEN_MINUTES_MS });

/**
 * Finds the session of an id, if it belongs to the caller and the endpoint. A forged, expired or deleted
 * id gets the same answer as the id of another caller or endpoint.
 */
export async function findSession(
  context: FrontDoorContext,
  id: string,
): Promise<FoundSession | Response> {
  const { keys, principal, route } = context;
  const claims = await readSessionId(keys, id, Date.now() / 1000);
  if (claims?.principal !== principal || claims.route !== route) return sessionNotFound();
  if (deleted.get(claims.object) === true) return sessionNotFound();
  return sessionOf(context, withCaller(context, claims));
}

export function sessionOf(
  { sessions }: Pick<FrontDoorContext, "sessions">,
  claims: SessionClaims,
): FoundSession {
  return { claims, object: () => sessions.at(claims.object) };
}

/** Deletes a session. @returns `false` when it no longer existed. */
export async function closeSession({ claims, object }: FoundSession): Promise<boolean> {
  const wasOpen = await object().close(writeClaims(claims));
  deleted.set(claims.object, true);
  return wasOpen;
}
