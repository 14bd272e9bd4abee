/** A new session: an object that is there when it is needed, and a sealed id that says the rest. */

import type { ClientFacts } from "../sessions/dispatch.ts";
import { mintSessionId, type SessionClaims } from "../sessions/session-id.ts";
import type { FrontDoorContext } from "./front-door.ts";

const DAY_SECONDS = 86_400;

/** @param client what `initialize` fixed; HTTP+SSE mints its id before that. */
export async function openSession(
  { keys, principal, route, sessions, limits }: FrontDoorContext,
  client?: ClientFacts,
): Promise<{ readonly id: string; readonly claims: SessionClaims }> {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims: SessionClaims = {
    ...{ object: sessions.create(), principal, route },
    ...(client === undefined ? {} : { client }),
    ...{ issuedAt, expiresAt: issuedAt + limits.sessionDays * DAY_SECONDS },
  };
  return { id: await mintSessionId(await keys.keyring(), claims), claims };
}
