/**
 * Servers that give no session id. Such a server keeps nothing between a client's requests, and cannot
 * tell the sessions of equal clients of one caller apart: what it has agreed on with one of them holds for
 * the next, which needs no handshake of its own. A server that has changed since refuses the first request
 * of that session, as one that has forgotten it does, and the handshake is made then.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { UpstreamTarget } from "../target.ts";
import type { Connected } from "./find-transport.ts";
import type { Handshake, LegacyClient } from "./handshake.ts";

const TEN_MINUTES_MS = 600_000;
const agreed = new BoundedCache<Handshake>({ maxEntries: 1000, ttlMs: TEN_MINUTES_MS });

/**
 * @param accountId of the client, at a server with accounts.
 * @returns what the server has agreed on with an equal client, if it gives no session ids.
 */
export function agreedHandshake(
  target: UpstreamTarget,
  client: LegacyClient,
  accountId: string | undefined,
): Handshake | undefined {
  return agreed.get(keyOf(target, client, accountId));
}

/** Over HTTP+SSE, the stream is the session. */
export function isSessionless({ wire, transport }: Pick<Connected, "wire" | "transport">): boolean {
  return transport === "streamable-http" && wire.sessionId === undefined;
}

/**
 * All who ask such a server share its subscriptions. The end of one would take away that of another client, or one that
 * was made anew while it was on its way. So it is not sent; what the server sends of a resource that nobody wants is
 * ignored.
 */
export function isSharedEnd({ method }: Call, connected: Connected): boolean {
  return method === "resources/unsubscribe" && isSessionless(connected);
}

/** Notes a completed handshake. */
export function noteHandshake(
  target: UpstreamTarget,
  client: LegacyClient,
  connected: Connected,
): void {
  const { wire, handshake } = connected;
  if (isSessionless(connected)) agreed.set(keyOf(target, client, wire.accountId), handshake);
}

/** The next session makes its own handshake. */
export function forgetHandshake(
  target: UpstreamTarget,
  client: LegacyClient,
  accountId: string | undefined,
): void {
  agreed.delete(keyOf(target, client, accountId));
}

/** All that a handshake tells a server about its client. */
function keyOf(
  { slug, endpoint, assertion }: UpstreamTarget,
  client: LegacyClient,
  accountId: string | undefined,
): string {
  const { revision, capabilities, clientInfo } = client;
  const caller = [accountId, assertion?.caller];
  return JSON.stringify([slug, ...caller, endpoint.href, revision, capabilities, clientInfo]);
}
