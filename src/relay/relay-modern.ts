/**
 * Relays one request of a modern client to a server of either era: directly to a modern server, else
 * over the bridge to a legacy one.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import { errorReply, type Reply } from "../protocol/json-rpc.ts";
import { isOfTasks } from "../protocol/methods.ts";
import { ownData } from "../protocol/own-error.ts";
import { discover, type EraVerdict, recheckEra } from "../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, isOtherEra, type UpstreamFailure } from "../upstream/upstream-error.ts";
import type { BridgeScope } from "./modern-to-legacy/bridge.ts";
import type { ModernCall } from "./modern-context.ts";
import { judgeParamHeaders, relayToModern } from "./relay-to-modern.ts";
import { readBridgeState } from "./modern-to-legacy/bridge-state.ts";
import { relayToLegacy } from "./relay-to-legacy.ts";

/** Rejects with the reason of the call's signal alone. */
export async function relayModern(
  scope: BridgeScope,
  target: UpstreamTarget,
  call: ModernCall,
): Promise<Reply> {
  try {
    return await relay(scope, target, call);
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    return failureReply(error, target.slug);
  }
}

async function relay(scope: BridgeScope, target: UpstreamTarget, call: ModernCall): Promise<Reply> {
  const { method, params = {} } = call.message;
  const { requestState, inputResponses } = params;
  const isParked = readBridgeState(requestState) !== undefined;
  const isNextRound = requestState !== undefined || inputResponses !== undefined;
  let verdict = await discover(target);
  // Any other state is a modern server's own, and a modern server MAY ask without one (2026-07-28, MRTR). The
  // task was made there as well. So a verdict that says otherwise is of a time before it.
  const continuesModern = (isNextRound && !isParked) || isOfTasks(method);
  if (verdict.era === "legacy" && continuesModern) verdict = await recheckEra(target);
  if (verdict.era === "unknown-modern") return speaksNeither(target, verdict);
  // A parked call is at the bridge, whatever the server's era is now.
  if (isParked) return cross(scope, target, call);
  if (verdict.era === "legacy") {
    const reply = await cross(scope, target, call);
    if (!isOfOtherEra(reply)) return reply;
    // The verdict may be an hour old; a request that fails in the handshake did not run.
    if ((await recheckEra(target)).era !== "modern") return reply;
  }
  try {
    return await relayToModern(target, call);
  } catch (error) {
    // The verdict may be an hour old; a request that the server refused did not run.
    if (!isOtherEra(error)) throw error;
  }
  return cross(scope, target, call);
}

/** A reply over the bridge is plain data, so the failure is read from it. */
function isOfOtherEra(reply: Reply): boolean {
  return ownData(reply).reason === ("other-era" satisfies UpstreamFailure);
}

async function cross(
  { bridges, principal, waitUntil }: BridgeScope,
  target: UpstreamTarget,
  call: ModernCall,
): Promise<Reply> {
  if (call.message.method === "tools/call") {
    const judged = await judgeParamHeaders(call, false);
    if (judged.kind === "mismatch") return judged.reply;
  }
  const bridge = bridges.at(principal, target, call.envelope.clientCapabilities);
  return relayToLegacy({ bridge, slug: target.slug, waitUntil }, call);
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
