/**
 * Finds out whether an upstream speaks the modern era, by the one request that is safe to send
 * to a server of either: `server/discover` (2026-07-28, versioning, probing). The verdict is a
 * pure function of the answer; it is remembered for a while.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  type ErrorObject,
  isObject,
  type JsonObject,
  type Reply,
} from "../../protocol/json-rpc.ts";
import { isLegacyRevision, isModernRevision, LATEST_MODERN } from "../../protocol/revisions.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import { sendModern } from "./send.ts";

export type Verdict =
  | { readonly era: "modern"; readonly discovered: JsonObject }
  | { readonly era: "legacy" }
  /** Modern, but of revisions that Edgeway does not speak: falling back would be wrong. */
  | { readonly era: "unknown-modern"; readonly supported: readonly unknown[] };

const HOUR_MS = 3_600_000;
const verdicts = new BoundedCache<Verdict>({ maxEntries: 1000, ttlMs: HOUR_MS });

/**
 * The era of an upstream, as seen by a modern client.
 *
 * @throws UpstreamError when the probe gave no evidence: refused credentials, overload, failure.
 */
export async function discover(target: UpstreamTarget): Promise<Verdict> {
  if (target.era === "legacy") return { era: "legacy" };
  const key = target.endpoint.href;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const verdict = await probe(target);
  verdicts.set(key, verdict);
  return verdict;
}

/** Forgets a verdict that a call has proven wrong. */
export function forgetVerdict(target: UpstreamTarget): void {
  verdicts.delete(target.endpoint.href);
}

async function probe(target: UpstreamTarget): Promise<Verdict> {
  let reply: Reply;
  try {
    reply = await sendProbe(target);
    // -32020 and -32021 cannot be ours, for the probe is well formed: ask once more, then let be.
    if ("error" in reply && isSuspicious(reply.error)) reply = await sendProbe(target);
  } catch (error) {
    // A refusal without a JSON-RPC error is how older servers meet an unknown method.
    if (error instanceof UpstreamError && error.failure === "malformed") return { era: "legacy" };
    throw error;
  }
  return judge(reply);
}

function isSuspicious({ code }: ErrorObject): boolean {
  return code === ErrorCode.HeaderMismatch || code === ErrorCode.MissingRequiredClientCapability;
}

function sendProbe(target: UpstreamTarget): Promise<Reply> {
  return sendModern(target, {
    call: { method: "server/discover", params: { _meta: {} } },
    clientCapabilities: {},
  });
}

/** The verdict table: what an answer to `server/discover` proves. */
export function judge(reply: Reply): Verdict {
  if ("result" in reply) {
    const { supportedVersions, capabilities } = reply.result;
    const isModern =
      Array.isArray(supportedVersions) &&
      supportedVersions.includes(LATEST_MODERN) &&
      isObject(capabilities);
    return isModern ? { era: "modern", discovered: reply.result } : { era: "legacy" };
  }
  const { code, data } = reply.error;
  const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : [];
  if (code !== ErrorCode.UnsupportedProtocolVersion || supported.length === 0) {
    return { era: "legacy" };
  }
  if (supported.some(isLegacyRevision) && !supported.some(isModernRevision)) {
    return { era: "legacy" };
  }
  return { era: "unknown-modern", supported };
}
