/**
 * Determines the era of an upstream by the one request that is safe to send to a server of either:
 * `server/discover` (2026-07-28, versioning, probing). The verdict is a pure function of the answer,
 * and is cached for a while.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { dataOf, type ErrorObject, isObject, type Reply } from "../../protocol/json-rpc.ts";
import { claimsModernEra, isModernRevision, LATEST_MODERN } from "../../protocol/revisions.ts";
import type { UpstreamTarget } from "../target.ts";
import { isOtherEra, UpstreamError } from "../upstream-error.ts";
import { sendModern } from "./send.ts";

export type EraVerdict =
  | { readonly era: "modern" }
  | { readonly era: "legacy" }
  /** Modern, but of revisions that Edgeway does not support: falling back would be wrong. */
  | { readonly era: "unknown-modern"; readonly supported: readonly string[] };

const HOUR_MS = 3_600_000;
const verdicts = new BoundedCache<EraVerdict>({ maxEntries: 1000, ttlMs: HOUR_MS });

/**
 * The era of an upstream, as seen by a modern client.
 *
 * @throws UpstreamError when the probe gave no evidence: refused credentials, overload, failure.
 */
export async function discover(target: UpstreamTarget): Promise<EraVerdict> {
  // HTTP+SSE is older than the era.
  if (target.era === "legacy" || target.transport === "sse") return { era: "legacy" };
  const key = target.endpoint.href;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const verdict = await probe(target);
  verdicts.set(key, verdict);
  return verdict;
}

/** Removes a verdict that a call has proven wrong. */
export function forgetVerdict(target: UpstreamTarget): void {
  verdicts.delete(target.endpoint.href);
}

/** Probes anew, after a refusal that a server of this era would not give. @throws as `discover` does. */
export function recheckEra(target: UpstreamTarget): Promise<EraVerdict> {
  forgetVerdict(target);
  return discover(target);
}

export function legacyOnly({ slug }: UpstreamTarget): UpstreamError {
  return new UpstreamError(slug, "other-era", "speaks only the legacy era (before 2026-07-28)");
}

/**
 * Probes a server that refused a handshake: those without the legacy era refuse `initialize` in many ways.
 *
 * @param error that the handshake ended in.
 */
export async function isModernOnly(error: unknown, target: UpstreamTarget): Promise<boolean> {
  if (isOtherEra(error)) return true;
  if (!(error instanceof UpstreamError)) return false;
  const { era, transport } = target;
  if (error.failure !== "malformed" || era === "legacy" || transport === "sse") return false;
  // What was known of a server that shakes no hands any more is no evidence.
  if (verdicts.get(target.endpoint.href)?.era === "legacy") forgetVerdict(target);
  const verdict = await discover(target).catch(() => undefined); // the probe gave no evidence
  return verdict !== undefined && verdict.era !== "legacy";
}

export function modernOnly({ slug }: UpstreamTarget): UpstreamError {
  return new UpstreamError(slug, "other-era", "speaks only the modern era (2026-07-28 and later)");
}

async function probe(target: UpstreamTarget): Promise<EraVerdict> {
  let reply: Reply;
  try {
    reply = await sendProbe(target);
    if ("error" in reply && isWorthRetrying(reply.error)) reply = await sendProbe(target);
  } catch (error) {
    // Older servers refuse an unknown method without a JSON-RPC error.
    if (error instanceof UpstreamError && error.failure === "malformed") return { era: "legacy" };
    throw error;
  }
  return judge(reply);
}

/**
 * `server/discover` is well formed and of a supported revision, so neither an error of its headers or
 * capabilities nor a refusal that lists that revision can be meant: it is sent once more.
 */
export function isWorthRetrying(error: ErrorObject): boolean {
  return (
    error.code === ErrorCode.HeaderMismatch ||
    error.code === ErrorCode.MissingRequiredClientCapability ||
    supportedOf(error).some(isModernRevision)
  );
}

async function sendProbe(target: UpstreamTarget): Promise<Reply> {
  const { reply } = await sendModern(target, {
    call: { method: "server/discover", params: { _meta: {} } },
    clientCapabilities: {},
    // The gateway itself is the client here (2026-07-28, lifecycle: SHOULD).
    clientInfo: CLIENT_INFO,
  });
  return reply;
}

/** The verdict on a reply to `server/discover`. */
export function judge(reply: Reply): EraVerdict {
  if ("result" in reply) {
    const { supportedVersions, capabilities } = reply.result;
    const isModern =
      Array.isArray(supportedVersions) &&
      supportedVersions.includes(LATEST_MODERN) &&
      isObject(capabilities);
    return { era: isModern ? "modern" : "legacy" };
  }
  const supported = supportedOf(reply.error);
  return supported.some(claimsModernEra) ? { era: "unknown-modern", supported } : { era: "legacy" };
}

/** The revisions that an UnsupportedProtocolVersion error lists. */
function supportedOf(error: ErrorObject): readonly string[] {
  if (error.code !== ErrorCode.UnsupportedProtocolVersion) return [];
  const { supported } = dataOf(error);
  return Array.isArray(supported) ? supported.filter((entry) => typeof entry === "string") : [];
}
