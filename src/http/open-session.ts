/** Opens a session: an object id, which wakes nothing, and a sealed session id with all other facts. */

import type { ClientFacts } from "../sessions/dispatch.ts";
import { mintSessionId, type SessionClaims } from "../sessions/session-id.ts";
import type { FrontDoorContext } from "./front-door.ts";

const DAY_SECONDS = 86_400;

/** @param client as `initialize` described it; HTTP+SSE mints its id before that. */
export async function openSession(
  { keys, principal, route, sessions, limits }: FrontDoorContext,
  client?: ClientFacts,
): Promise<{ readonly id: string; readonly claims: SessionClaims }> {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims: SessionClaims = {
    object: sessions.create(),
    principal,
    route,
    ...(client === undefined ? {} : { client }),
    issuedAt,
    expiresAt: issuedAt + limits.sessionDays * DAY_SECONDS,
  };
  return { id: await mintSessionId(await keys.keyring(), claims), claims };
}
