/**
 * Opens a session at a legacy server: by a handshake, or by the one that an equal client has made, where the
 * server gives no session ids.
 */

import { notification } from "../../protocol/json-rpc.ts";
import { isModernOnly, modernOnly } from "../modern/discover.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Exchanges } from "./exchanges.ts";
import { connect, type Connected, restoreWire } from "./find-transport.ts";
import type { LegacyClient } from "./handshake.ts";
import { agreedHandshake, noteHandshake } from "./sessionless.ts";
import type { DeliverFrom } from "./wire.ts";

/** The session id is stored, and sent with every request. */
const MAX_SESSION_ID_CHARS = 4096;

/**
 * Opens a session at a server without sessions that has met an equal client: nothing is sent.
 *
 * @param accountId of the client, at a server with accounts.
 */
export function openAsAgreed(
  target: UpstreamTarget,
  client: LegacyClient,
  accountId: string | undefined,
  deliver: DeliverFrom,
): Connected | undefined {
  const handshake = agreedHandshake(target, client, accountId);
  if (handshake === undefined) return undefined;
  const transport = "streamable-http";
  const wire = restoreWire(target, transport, deliver, {
    sessionId: undefined,
    accountId,
    handshake,
  });
  return { wire, transport, handshake };
}

/**
 * Shakes hands. Before it sends requests the client has to complete the handshake.
 *
 * @throws UpstreamError `other-era` when the server has no legacy era; or why it is unavailable.
 */
export async function openByHandshake(
  target: UpstreamTarget,
  client: LegacyClient,
  exchanges: Exchanges,
  deliver: DeliverFrom,
): Promise<Connected> {
  const connected = await connectLegacy(target, client, exchanges, deliver);
  const { wire } = connected;
  if ((wire.sessionId?.length ?? 0) > MAX_SESSION_ID_CHARS) {
    await wire.close();
    const sentence = `gave its session an id of over ${MAX_SESSION_ID_CHARS} characters`;
    throw new UpstreamError(target.slug, "malformed", sentence);
  }
  return connected;
}

/** Tells the server that the client is ready; an equal client may need no handshake then. */
export async function completeHandshake(
  target: UpstreamTarget,
  client: LegacyClient,
  connected: Connected,
): Promise<void> {
  await connected.wire.post(notification("notifications/initialized"));
  noteHandshake(target, client, connected);
}

/** A server that refuses the handshake may have the modern era only, which a probe shows. */
async function connectLegacy(...parties: Parameters<typeof connect>): Promise<Connected> {
  const [target] = parties;
  if (target.era === "modern") throw modernOnly(target);
  try {
    return await connect(...parties);
  } catch (error) {
    throw (await isModernOnly(error, target)) ? modernOnly(target) : error;
  }
}
