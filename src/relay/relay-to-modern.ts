/**
 * Modern client, modern server: nearly a proxy. The envelope and the mirrored headers are made
 * anew for the next hop, and members that a lenient server leaves out of its results are added.
 */

import { toModern } from "../protocol/capabilities.ts";
import { Meta, metaOf, serverInfoOf, withMeta } from "../protocol/envelope.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../protocol/json-rpc.ts";
import { completeModernResult } from "../protocol/modern-result.ts";
import {
  checkParamHeaders,
  hasLawfulBindings,
  PARAM_HEADER_PREFIX,
  type ParamBinding,
  paramHeaders,
} from "../protocol/param-headers.ts";
import { MODERN_REVISIONS } from "../protocol/revisions.ts";
import { declaresTasks } from "../protocol/tasks-extension.ts";
import { legacyOnly, recheckEra } from "../upstream/modern/discover.ts";
import { looksLegacy, type ModernReply, sendModern } from "../upstream/modern/send.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import type { ModernCall } from "./modern-context.ts";
import { isBridgeState } from "./modern-to-legacy/bridge-state.ts";

/**
 * Relays one request to its end.
 *
 * @throws UpstreamError when no answer is available; `other-era` when the server has no modern era
 *   any more, so that the request did not run; the reason of the call's signal.
 */
export async function relayToModern(target: UpstreamTarget, call: ModernCall): Promise<Reply> {
  if (call.message.method === "tools/call") return relayToolCall(target, call);
  return finish(target, call, await send(target, call, {}));
}

function send(
  target: UpstreamTarget,
  { message, envelope, peer, signal }: ModernCall,
  headers: Record<string, string>,
): Promise<ModernReply> {
  const { clientInfo } = envelope;
  return sendModern(target, {
    call: message,
    peer,
    signal,
    clientCapabilities: toModern(envelope.clientCapabilities),
    ...(clientInfo === undefined ? {} : { clientInfo }),
    headers,
  });
}

/** The server judges the headers as well, and may know a newer schema than ours. */
async function relayToolCall(target: UpstreamTarget, call: ModernCall): Promise<Reply> {
  const args = call.message.params?.arguments;
  for (let isDoubted = false; ; isDoubted = true) {
    const judged = await judgeParamHeaders(call, isDoubted);
    if (judged.kind === "mismatch") return judged.reply;
    const headers = {
      ...inboundParamHeaders(call.headers),
      ...Object.fromEntries(paramHeaders(judged.bindings, isObject(args) ? args : undefined)),
    };
    const answer = await send(target, call, headers);
    const { reply, wasRefused } = answer;
    // The call was refused before it ran, so it may be sent once more.
    const isStale = wasRefused && "error" in reply && reply.error.code === ErrorCode.HeaderMismatch;
    if (!isStale || isDoubted) return finish(target, call, answer);
  }
}

/** Headers of tools that are not listed MUST pass untouched (2026-07-28, custom headers). */
function inboundParamHeaders(headers: Headers): Record<string, string> {
  // Their names alone: the platform makes a pair for each header that is read with its value.
  const names = [...headers.keys()].filter((name) => name.startsWith(PARAM_HEADER_PREFIX));
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""]));
}

async function finish(
  target: UpstreamTarget,
  { message: { method }, envelope }: ModernCall,
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
  if (isBridgeState(result.requestState)) {
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

export type ParamHeaderVerdict =
  | { readonly kind: "fits"; readonly bindings: readonly ParamBinding[] }
  | { readonly kind: "mismatch"; readonly reply: Reply };

/**
 * Judges the `Mcp-Param-*` headers of a call against its arguments. A client that has been shown the
 * annotations is held to them, in whatever era the server is (2026-07-28, custom headers).
 *
 * @param isDoubted the server has refused the known schema of the tool, so it is read anew.
 */
export async function judgeParamHeaders(
  { message, headers, toolFacts }: Pick<ModernCall, "message" | "headers" | "toolFacts">,
  isDoubted: boolean,
): Promise<ParamHeaderVerdict> {
  const { name, arguments: args } = message.params ?? {};
  // Without a schema the call still goes out: the server judges it itself.
  if (typeof name !== "string") return { kind: "fits", bindings: [] };
  for (let isAnew = isDoubted; ; isAnew = true) {
    const { bindings = [] } = (await toolFacts(name, isAnew)) ?? {};
    const problem = checkParamHeaders(bindings, headers, args);
    if (problem === undefined) return { kind: "fits", bindings };
    // The client may have a newer list than ours.
    if (isAnew) return { kind: "mismatch", reply: errorReply(ErrorCode.HeaderMismatch, problem) };
  }
}
