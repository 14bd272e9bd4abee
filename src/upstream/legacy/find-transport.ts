/**
 * Finds the transport of a legacy server by shaking hands with it: Streamable HTTP first, then
 * HTTP+SSE where the status shows that there is no such endpoint (2025-11-25, backwards
 * compatibility: 400, 404 or 405). The transport found is cached for a while.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { toLegacyServer } from "../../protocol/capabilities.ts";
import { type Call, nullPeer } from "../../protocol/exchange.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Exchanges } from "./exchanges.ts";
import { type Handshake, type LegacyClient, parseHandshake, showsModernOnly } from "./handshake.ts";
import { HttpSseWire } from "./http-sse-wire.ts";
import { runExchange } from "./run-exchange.ts";
import type { SavedConnection } from "./saved-connection.ts";
import { StreamableHttpWire } from "./streamable-http-wire.ts";
import type { DeliverFrom, Wire } from "./wire.ts";

export type Transport = "streamable-http" | "sse";

export interface Connected {
  readonly wire: Wire;
  readonly transport: Transport;
  readonly handshake: Handshake;
}

const NO_SUCH_ENDPOINT: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
const HOUR_MS = 3_600_000;
// An upstream may change its transport in a deploy, so the verdict expires.
const verdicts = new BoundedCache<Transport>({ maxEntries: 1000, ttlMs: HOUR_MS });

/** @returns a wire of a known transport, to a session that may still exist. */
export function restoreWire(
  target: UpstreamTarget,
  transport: Transport,
  deliver: DeliverFrom,
  saved?: Pick<SavedConnection, "sessionId" | "accountId" | "handshake">,
): Wire {
  return transport === "sse"
    ? new HttpSseWire(target, deliver)
    : new StreamableHttpWire(target, saved && { ...saved, revision: saved.handshake.revision });
}

/**
 * Shakes hands over the transport that works.
 *
 * @throws UpstreamError `other-era` when the server has no legacy era; the failure of the first
 *   transport when none works.
 */
export async function connect(
  target: UpstreamTarget,
  client: LegacyClient,
  exchanges: Exchanges,
  deliver: DeliverFrom,
): Promise<Connected> {
  const key = target.endpoint.href;
  const known = target.transport === "auto" ? verdicts.get(key) : target.transport;
  const transports: readonly Transport[] =
    known === undefined ? ["streamable-http", "sse"] : [known];

  let firstError: unknown;
  for (const transport of transports) {
    const wire = restoreWire(target, transport, deliver);
    try {
      const handshake = await shakeHands(target, client, exchanges, wire);
      verdicts.set(key, transport);
      return { wire, transport, handshake };
    } catch (error) {
      await wire.close();
      firstError ??= error;
      if (!(error instanceof UpstreamError) || !NO_SUCH_ENDPOINT.has(error.status)) break;
    }
  }
  verdicts.delete(key);
  throw firstError;
}

async function shakeHands(
  target: UpstreamTarget,
  client: LegacyClient,
  exchanges: Exchanges,
  wire: Wire,
): Promise<Handshake> {
  const { slug } = target;
  const call: Call = {
    method: "initialize",
    params: {
      protocolVersion: client.revision,
      capabilities: toLegacyServer(client.capabilities, client.revision),
      clientInfo: client.clientInfo,
    },
  };
  const signal = new AbortController().signal;
  const reply = await runExchange({ target, exchanges, wire, call, peer: PEER, signal });
  if ("error" in reply) {
    if (showsModernOnly(reply.error)) {
      throw new UpstreamError(slug, "other-era", "speaks no revision before 2026-07-28");
    }
    // The commonest cause by far is a wrong URL.
    const sentence = `refused initialize with error ${reply.error.code}; check its "url"`;
    throw new UpstreamError(slug, "malformed", sentence, { status: 400 });
  }
  const handshake = parseHandshake(reply.result);
  if (handshake === undefined) {
    throw new UpstreamError(slug, "malformed", "answered initialize with something else");
  }
  wire.agree(handshake.revision);
  return handshake;
}

/** Before the handshake is done a server may send nothing but `ping` (lifecycle). */
const PEER = nullPeer("Not initialized yet");
