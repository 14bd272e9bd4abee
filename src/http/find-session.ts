/**
 * Finds the session that a request names, if it belongs to the caller and the endpoint. A forged, expired
 * or deleted id gets the same answer as the id of another caller or endpoint.
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
