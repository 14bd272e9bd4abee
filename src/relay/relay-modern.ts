/**
 * Relays one request of a modern client to a server of either era: directly to a modern server, else
 * over the bridge to a legacy one.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import type { Peer } from "../protocol/exchange.ts";
import { errorReply, type Reply } from "../protocol/json-rpc.ts";
import { ownData } from "../protocol/own-error.ts";
import { discover, recheckEra, type EraVerdict } from "../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, isOtherEra, type UpstreamFailure } from "../upstream/upstream-error.ts";
import type { BridgeScope } from "./modern-to-legacy/bridge.ts";
import type { InboundModern } from "./modern-to-modern/inbound-modern.ts";
import { judgeParamHeaders } from "./modern-to-modern/judge-param-headers.ts";
import { relayToModern } from "./modern-to-modern/modern-to-modern.ts";
import { readBridgeState } from "./modern-to-legacy/bridge-state.ts";
import { relayToLegacy } from "./modern-to-legacy/relay-to-legacy.ts";

/** Rejects with the reason of `signal` alone. */
export async function relayModern(
  scope: BridgeScope,
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    return await relay(scope, target, inbound, peer, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return failureReply(error, target.slug);
  }
}

async function relay(
  scope: BridgeScope,
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const verdict = await discover(target);
  if (verdict.era === "unknown-modern") return speaksNeither(target, verdict);
  // A parked call is at the bridge, whatever the server's era is now.
  if (readBridgeState(inbound.message.params?.requestState) !== undefined) {
    return cross(scope, target, inbound, peer, signal);
  }
  if (verdict.era === "legacy") {
    const reply = await cross(scope, target, inbound, peer, signal);
    if (!isOfOtherEra(reply)) return reply;
    // The verdict may be an hour old; a request that fails in the handshake did not run.
    if ((await recheckEra(target)).era !== "modern") return reply;
  }
  try {
    return await relayToModern(target, inbound, peer, signal);
  } catch (error) {
    // The verdict may be an hour old; a request that the server refused did not run.
    if (!isOtherEra(error)) throw error;
  }
  return cross(scope, target, inbound, peer, signal);
}

/** A reply over the bridge is plain data, so the failure is read from it. */
function isOfOtherEra(reply: Reply): boolean {
  return ownData(reply)["reason"] === ("other-era" satisfies UpstreamFailure);
}

async function cross(
  { bridges, principal, waitUntil }: BridgeScope,
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  if (inbound.message.method === "tools/call") {
    const judged = await judgeParamHeaders(inbound, false);
    if (judged.kind === "mismatch") return judged.reply;
  }
  const bridge = bridges.at(principal, target, inbound.envelope.clientCapabilities);
  return relayToLegacy({ bridge, slug: target.slug, waitUntil }, inbound, peer, signal);
}

const REVISION = /^\d{4}-\d\d-\d\d$/;
const MAX_REVISIONS = 16;

/** Falling back would be wrong: the server itself lists revisions of the modern era. */
function speaksNeither(
  { slug }: UpstreamTarget,
  { supported }: Extract<EraVerdict, { era: "unknown-modern" }>,
): Reply {
  const sentence = `Upstream "${slug}" speaks none of this gateway's revisions`;
  // A text without the form of a revision is the server's own, which is not quoted.
  const shown = supported.filter((one) => REVISION.test(one)).slice(0, MAX_REVISIONS);
  return errorReply(ErrorCode.InternalError, sentence, { upstream: slug, supported: shown });
}
