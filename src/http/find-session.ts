/**
 * The session that a request names, if it is there for who asks. An id that was forged, has
 * expired, was deleted, or belongs to somebody else or to another endpoint is answered alike.
 */

import { readSessionId, type SessionClaims } from "../sessions/session-id.ts";
import { sessionNotFound } from "./answers.ts";
import type { FrontDoorContext, SessionStub } from "./front-door.ts";

export interface FoundSession {
  readonly claims: SessionClaims;
  readonly session: SessionStub;
}

export async function findSession(
  { keys, principal, route, sessions }: FrontDoorContext,
  id: string,
): Promise<FoundSession | Response> {
  const claims = await readSessionId(keys, id, Date.now() / 1000);
  if (claims?.principal !== principal || claims.route !== route) return sessionNotFound();
  const session = sessions.find(claims);
  return session === undefined ? sessionNotFound() : { claims, session };
}
