/**
 * One request of a modern client, to a server of either era: its own where the server has it, else
 * over the bridge to the older one.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import type { Peer } from "../protocol/exchange.ts";
import { errorReply, type Reply } from "../protocol/json-rpc.ts";
import { ownData } from "../protocol/own-error.ts";
import { discover, recheckEra, type Verdict } from "../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, isOtherEra, type UpstreamFailure } from "../upstream/upstream-error.ts";
import type { Carrier } from "./carrier.ts";
import type { InboundModern } from "./inbound-modern.ts";
import { judgeParamHeaders } from "./judge-param-headers.ts";
import { relayToModern } from "./modern-to-modern.ts";
import { readState } from "./modern-to-legacy/request-state.ts";
import { relayToLegacy } from "./modern-to-legacy/relay-to-legacy.ts";

type RelayModern = (
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
) => Promise<Reply>;

/** @returns a relay that never rejects but with the reason of its signal. */
export function relayingFor(carrier: Carrier): RelayModern {
  return async (target, inbound, peer, signal) => {
    try {
      return await relay(carrier, target, inbound, peer, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return failureReply(error, target.slug);
    }
  };
}

async function relay(
  carrier: Carrier,
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const verdict = await discover(target);
  if (verdict.era === "unknown-modern") return speaksNeither(target, verdict);
  // A call that is parked is at the bridge, whatever the server has become meanwhile.
  if (readState(inbound.message.params?.["requestState"]) !== undefined) {
    return cross(carrier, target, inbound, peer, signal);
  }
  if (verdict.era === "legacy") {
    const reply = await cross(carrier, target, inbound, peer, signal);
    if (!isOfOtherEra(reply)) return reply;
    // It was a legacy server an hour ago; what fails in the handshake did not run.
    if ((await recheckEra(target)).era !== "modern") return reply;
  }
  try {
    return await relayToModern(target, inbound, peer, signal);
  } catch (error) {
    // It was a modern server an hour ago; what it refused did not run.
    if (!isOtherEra(error)) throw error;
  }
  return cross(carrier, target, inbound, peer, signal);
}

/** What comes over the bridge is plain data. */
function isOfOtherEra(reply: Reply): boolean {
  return ownData(reply)["reason"] === ("other-era" satisfies UpstreamFailure);
}

async function cross(
  { bridges, principal, waitUntil }: Carrier,
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

/** Falling back would be wrong: it says itself that it is of the newer era. */
function speaksNeither(
  { slug }: UpstreamTarget,
  { supported }: Extract<Verdict, { era: "unknown-modern" }>,
): Reply {
  const sentence = `Upstream "${slug}" speaks none of this gateway's revisions`;
  // What has not the form of a revision is the server's own words, which are not quoted.
  const shown = supported.filter((one) => REVISION.test(one)).slice(0, MAX_REVISIONS);
  return errorReply(ErrorCode.InternalError, sentence, { upstream: slug, supported: shown });
}
