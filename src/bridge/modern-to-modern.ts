/**
 * Modern client, modern server: nearly a proxy. The envelope and the mirrored headers are made
 * anew for the next hop, and what a lenient server leaves out of its results is added.
 */

import { toModern } from "../protocol/capabilities.ts";
import { type Envelope, Meta, metaOf, withMeta } from "../protocol/envelope.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Peer } from "../protocol/exchange.ts";
import {
  errorReply,
  isObject,
  type JsonObject,
  type JsonRpcRequest,
  type Reply,
} from "../protocol/json-rpc.ts";
import { completeModernResult } from "../protocol/modern-result.ts";
import {
  checkParamHeaders,
  hasLawfulBindings,
  PARAM_HEADER_PREFIX,
  type ParamBinding,
  paramHeaders,
} from "../protocol/param-headers.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../protocol/revisions.ts";
import { discover, forgetVerdict, type Verdict } from "../upstream/modern/discover.ts";
import {
  looksLegacy,
  type ModernReply,
  type ModernRequest,
  sendModern,
} from "../upstream/modern/send.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, UpstreamError } from "../upstream/upstream-error.ts";

export interface InboundModern {
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
  /**
   * Of a tool call: which arguments its server wants in headers; `undefined` when that is not
   * known. Never rejects.
   *
   * @param isDoubted what was said before did not fit: the server is asked anew.
   */
  readonly bindingsOf?: (isDoubted: boolean) => Promise<readonly ParamBinding[] | undefined>;
}

/** The client's headers that cross the gateway; everything else is this hop's own. */
const FORWARDED_HEADERS = ["traceparent", "tracestate"] as const;

/**
 * Relays one request to its end. Never rejects but with the reason of `signal`: an upstream's
 * failure is an error reply that names the upstream.
 */
export async function relayModern(
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    const refusal = eraRefusal(target, await discover(target), inbound.envelope);
    if (refusal !== undefined) return refusal;
    return await relay(target, inbound, peer, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return failureReply(error, target.slug);
  }
}

async function relay(
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const { method } = inbound.message;
  if (method === "tools/call") return relayToolCall(target, inbound, peer, signal);

  const { reply } = await send(target, inbound, { headers: {}, peer, signal });
  if (looksLegacy(reply)) return reprobe(target, inbound, reply);
  return finish(target.slug, method, reply);
}

function send(
  target: UpstreamTarget,
  { message, envelope, headers }: InboundModern,
  options: Pick<ModernRequest, "peer" | "signal"> & { headers: Record<string, string> },
): Promise<ModernReply> {
  const forwarded = FORWARDED_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const { clientInfo } = envelope;
  return sendModern(target, {
    ...options,
    call: message,
    clientCapabilities: toModern(envelope.clientCapabilities),
    ...(clientInfo === undefined ? {} : { clientInfo }),
    headers: { ...Object.fromEntries(forwarded), ...options.headers },
  });
}

/** A verdict that turns out stale fails loudly: the upstream is asked again what it is. */
async function reprobe(
  target: UpstreamTarget,
  { envelope }: InboundModern,
  reply: Reply,
): Promise<Reply> {
  forgetVerdict(target);
  return eraRefusal(target, await discover(target), envelope) ?? reply;
}

/**
 * Until eras are bridged: the refusal that sends a client of both eras to `initialize` by itself,
 * and tells every other one why (2026-07-28, versioning: data names what is supported).
 */
function eraRefusal(
  { slug }: UpstreamTarget,
  verdict: Verdict,
  { protocolVersion: requested }: Envelope,
): Reply | undefined {
  switch (verdict.era) {
    case "modern":
      return undefined;
    case "legacy":
      return errorReply(
        ErrorCode.UnsupportedProtocolVersion,
        `Upstream "${slug}" speaks only the legacy era (before 2026-07-28); connect with initialize`,
        { supported: LEGACY_REVISIONS, requested },
      );
    case "unknown-modern":
      return errorReply(
        ErrorCode.InternalError,
        `Upstream "${slug}" speaks none of this gateway's revisions`,
        { upstream: slug, supported: verdict.supported },
      );
  }
}

/** Arguments that the tool wants in headers are judged here, where body and headers meet. */
async function relayToolCall(
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const args = inbound.message.params?.["arguments"];
  for (let isDoubted = false; ; isDoubted = true) {
    // Without a schema the call still goes out: the upstream judges the headers itself.
    const bindings = (await inbound.bindingsOf?.(isDoubted)) ?? [];
    const problem = checkParamHeaders(bindings, inbound.headers, args);
    if (problem !== undefined) {
      // The client may have a newer list than ours.
      if (!isDoubted) continue;
      return errorReply(ErrorCode.HeaderMismatch, problem);
    }
    const headers = {
      ...inboundParamHeaders(inbound.headers),
      ...Object.fromEntries(paramHeaders(bindings, isObject(args) ? args : undefined)),
    };
    const { reply, wasRefused } = await send(target, inbound, { headers, peer, signal });
    // The server judged by a newer schema than ours. It refused at the door, so the call did not
    // run and may be sent once more.
    const isStale = wasRefused && "error" in reply && reply.error.code === ErrorCode.HeaderMismatch;
    if (!isStale || isDoubted) {
      return looksLegacy(reply)
        ? reprobe(target, inbound, reply)
        : finish(target.slug, "tools/call", reply);
    }
  }
}

/** Headers of tools that are not listed MUST pass untouched (2026-07-28, custom headers). */
function inboundParamHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith(PARAM_HEADER_PREFIX)));
}

function finish(slug: string, method: string, reply: Reply): Reply {
  if ("error" in reply) return reply;
  const result = completeModernResult(method, reply.result);
  if (result === undefined) {
    throw new UpstreamError(slug, "malformed", "answered with a result type nobody asked for");
  }
  switch (method) {
    case "server/discover":
      return { result: adaptDiscovery(result) };
    case "tools/list":
      return { result: dropBadTools(result) };
    default:
      return { result };
  }
}

/** The revisions are the gateway's own to state; capabilities are what it routes. */
function adaptDiscovery(result: JsonObject): JsonObject {
  const { serverInfo, capabilities, ...rest } = result;
  const meta = metaOf(result);
  // Servers of the last drafts name themselves in the body.
  const identity = meta[Meta.serverInfo] ?? serverInfo;
  return {
    ...withMeta(rest, identity === undefined ? meta : { ...meta, [Meta.serverInfo]: identity }),
    supportedVersions: MODERN_REVISIONS,
    capabilities: toModern(isObject(capabilities) ? capabilities : {}),
  };
}

function dropBadTools(result: JsonObject): JsonObject {
  const { tools } = result;
  return Array.isArray(tools) ? { ...result, tools: tools.filter(hasLawfulBindings) } : result;
}
