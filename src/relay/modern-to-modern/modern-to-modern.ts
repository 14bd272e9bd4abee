/**
 * Modern client, modern server: nearly a proxy. The envelope and the mirrored headers are made
 * anew for the next hop, and members that a lenient server leaves out of its results are added.
 */

import { toModern } from "../../protocol/capabilities.ts";
import { Meta, metaOf, serverInfoOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import {
  hasLawfulBindings,
  PARAM_HEADER_PREFIX,
  paramHeaders,
} from "../../protocol/param-headers.ts";
import { MODERN_REVISIONS } from "../../protocol/revisions.ts";
import { declaresTasks } from "../../protocol/tasks-extension.ts";
import { legacyOnly, recheckEra } from "../../upstream/modern/discover.ts";
import {
  looksLegacy,
  type ModernReply,
  type ModernRequest,
  sendModern,
} from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { InboundModern } from "./inbound-modern.ts";
import { judgeParamHeaders } from "./judge-param-headers.ts";
import { isBridgeState } from "../modern-to-legacy/bridge-state.ts";

/** The client's headers that cross the gateway; everything else is this hop's own. */
const FORWARDED_HEADERS = ["traceparent", "tracestate"] as const;

/**
 * Relays one request to its end.
 *
 * @throws UpstreamError when no answer is available; `other-era` when the server has no modern era
 *   any more, so that the request did not run; the reason of `signal`.
 */
export async function relayToModern(
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const { method } = inbound.message;
  if (method === "tools/call") return relayToolCall(target, inbound, peer, signal);
  const answer = await send(target, inbound, { headers: {}, peer, signal });
  return finish(target, inbound, answer);
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

/** The server judges the headers as well, and may know a newer schema than ours. */
async function relayToolCall(
  target: UpstreamTarget,
  inbound: InboundModern,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const args = inbound.message.params?.arguments;
  for (let isDoubted = false; ; isDoubted = true) {
    const judged = await judgeParamHeaders(inbound, isDoubted);
    if (judged.kind === "mismatch") return judged.reply;
    const headers = {
      ...inboundParamHeaders(inbound.headers),
      ...Object.fromEntries(paramHeaders(judged.bindings, isObject(args) ? args : undefined)),
    };
    const answer = await send(target, inbound, { headers, peer, signal });
    const { reply, wasRefused } = answer;
    // The call was refused before it ran, so it may be sent once more.
    const isStale = wasRefused && "error" in reply && reply.error.code === ErrorCode.HeaderMismatch;
    if (!isStale || isDoubted) return finish(target, inbound, answer);
  }
}

/** Headers of tools that are not listed MUST pass untouched (2026-07-28, custom headers). */
function inboundParamHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith(PARAM_HEADER_PREFIX)));
}

async function finish(
  target: UpstreamTarget,
  { message: { method }, envelope }: InboundModern,
  { reply, wasRefused }: ModernReply,
): Promise<Reply> {
  if ("error" in reply) {
    // The verdict may be stale: the server is probed again.
    const isDoubtful = wasRefused && looksLegacy(reply);
    if (isDoubtful && (await recheckEra(target)).era === "legacy") throw legacyOnly(target);
    return reply;
  }
  const takesTasks = declaresTasks(envelope.clientCapabilities);
  const result = completeModernResult(method, reply.result, takesTasks);
  if (result === undefined) {
    throw new UpstreamError(
      target.slug,
      "malformed",
      "answered with a result type nobody asked for",
    );
  }
  // When the client sends it back, it would be taken for a state that the gateway wrote.
  if (isBridgeState(result["requestState"])) {
    throw new UpstreamError(
      target.slug,
      "malformed",
      "gave a requestState of the gateway's own form",
    );
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

/** The gateway states its own revisions, and of the capabilities those that it routes. */
function adaptDiscovery(result: JsonObject): JsonObject {
  const { serverInfo: _, capabilities, ...rest } = result;
  const meta = metaOf(result);
  const identity = serverInfoOf(result);
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
