/**
 * One self-contained request to a modern server. There is no session and no state: the request lives
 * as long as its response stream, and closing that stream cancels it (2026-07-28, Streamable HTTP).
 */

import { unlessAborted } from "../../lib/unless-aborted.ts";
import { isChangeNotice } from "../../protocol/change-notices.ts";
import { inClientSpan } from "../../observability/spans.ts";
import { noteUpstream } from "../../protocol/call-span.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { Meta, metaOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcResponse,
  idKey,
  isRequestId,
  type Reply,
  replyOf,
} from "../../protocol/json-rpc.ts";
import { mirroredNameOf } from "../../protocol/mirrored-name.ts";
import { LATEST_MODERN } from "../../protocol/revisions.ts";
import { startDeadline } from "../deadline.ts";
import { ACCEPT_BOTH, readRefusal, send } from "../http.ts";
import { readMessages } from "../read-messages.ts";
import type { UpstreamTarget } from "../target.ts";
import { traced } from "../traced.ts";
import { UpstreamError } from "../upstream-error.ts";

export interface ModernRequest {
  readonly call: Call;
  readonly clientCapabilities: JsonObject;
  readonly clientInfo?: JsonObject;
  /** `Mcp-Param-*`; the standard headers are computed here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: Peer;
  readonly signal?: AbortSignal;
  /** A stream of `subscriptions/listen`, which has no deadline and carries change notifications. */
  readonly isLongLived?: boolean;
}

export interface ModernReply {
  readonly reply: Reply;
  /** The server refused with an HTTP status: the request provably did not run. */
  readonly wasRefused: boolean;
}

/**
 * A round of a call MUST have another id than the one before (multi round-trip requests), and servers
 * may take two requests with one id for the same one; so this isolate uses each id once.
 */
let lastId = 0;

/**
 * @returns the result or error. `request.peer` receives the notifications before it, with the
 *   client's own progress token.
 * @throws UpstreamError when no answer is available; the reason of `signal` when it is aborted.
 */
export function sendModern(target: UpstreamTarget, request: ModernRequest): Promise<ModernReply> {
  const { call, peer } = request;
  const run = (spanId: string | undefined): Promise<ModernReply> => {
    return sendInSpan(target, request, spanId);
  };
  return inClientSpan(peer?.span, target, call, run, ({ reply }) => reply);
}

async function sendInSpan(
  target: UpstreamTarget,
  request: ModernRequest,
  spanId: string | undefined,
): Promise<ModernReply> {
  const id = ++lastId;
  const startedAt = Date.now();
  const deadline = startDeadline(target);
  if (request.isLongLived === true) deadline.clear();
  const signals = [deadline.signal, ...(request.signal === undefined ? [] : [request.signal])];
  const signal = AbortSignal.any(signals);
  const { call, headers } = traced(request.call, request.peer?.span, spanId);
  const sent = { ...request, call };
  try {
    const response = await send(target, {
      method: "POST",
      headers: { ...standardHeaders(sent), ...headers },
      body: { jsonrpc: "2.0", id, ...outgoing(sent, id) },
      signal,
    });
    deadline.rewind();
    if (!response.ok) {
      const error = await readRefusal(target, response);
      const reply: Reply = response.status === 400 ? { error, refusedWith: 400 } : { error };
      return { reply, wasRefused: true };
    }
    for await (const parsed of readMessages(target, response)) {
      if (parsed.kind === "response" && isOurs(parsed.message, id)) {
        return { reply: replyOf(parsed.message), wasRefused: false };
      }
      // A server of this era sends no requests; one that does is ignored.
      const notice = parsed.kind === "notification" && relayed(parsed.message, request, id);
      if (notice === false || request.peer === undefined) continue;
      // Only relayed notifications restart the deadline: others could keep a request open for ever.
      const goOn = deadline.pause(); // however long the client takes to read
      try {
        await unlessAborted(request.peer.notify(notice), signal);
      } finally {
        goOn();
      }
    }
    const sentence = "closed the stream before the answer; whether the request ran is unknown";
    throw new UpstreamError(target.slug, "lost", sentence);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    deadline.clear();
    noteUpstream(request.peer?.span, "modern", Date.now() - startedAt);
  }
}

/** A response with another id is ignored; an error may lack its id (2025-11-25 on). */
function isOurs(response: JsonRpcResponse, id: number): boolean {
  if (response.id === undefined) return "error" in response;
  return idKey(response.id) === idKey(id);
}

function standardHeaders({ call, headers }: ModernRequest): Record<string, string> {
  const member = mirroredNameOf(call.method);
  const name = member === undefined ? undefined : call.params?.[member];
  return {
    ...headers,
    Accept: ACCEPT_BOTH,
    "MCP-Protocol-Version": LATEST_MODERN,
    "Mcp-Method": call.method,
    ...(typeof name === "string" ? { "Mcp-Name": encodeHeaderValue(name) } : {}),
  };
}

/** True for a notification of `subscriptions/listen` streams alone (2026-07-28, subscriptions). */
function isOfListenStreams(method: string): boolean {
  return isChangeNotice(method) || method === "notifications/tasks";
}

/** The envelope is rebuilt for this hop, and the gateway's progress token replaces the client's. */
function outgoing({ call, clientCapabilities, clientInfo }: ModernRequest, id: number): Call {
  const { progressToken, ...meta } = metaOf(call.params);
  return {
    method: call.method,
    params: withMeta(call.params, {
      ...meta,
      ...(isRequestId(progressToken) ? { progressToken: id } : {}),
      [Meta.protocolVersion]: LATEST_MODERN,
      [Meta.clientCapabilities]: clientCapabilities,
      ...(clientInfo === undefined ? {} : { [Meta.clientInfo]: clientInfo }),
    }),
  };
}

/** @returns the notification for the client; `false` for one that is not relayed. */
function relayed(
  { method, params }: JsonRpcNotification,
  request: ModernRequest,
  id: number,
): Call | false {
  const meta = metaOf(request.call.params);
  if (method === "notifications/progress") {
    const { progressToken } = meta;
    // Some servers turn the number into a string; it is the only token either way.
    const own = params?.progressToken;
    if (!isRequestId(progressToken) || !isRequestId(own)) return false;
    if (own !== String(id) && idKey(own) !== idKey(id)) return false;
    return { method, params: { ...params, progressToken } };
  }
  // Log records only for a request that asked for them (2026-07-28, logging: MUST NOT).
  if (method === "notifications/message" && meta[Meta.logLevel] === undefined) return false;
  if (request.isLongLived !== true && isOfListenStreams(method)) return false;
  return params === undefined ? { method } : { method, params };
}

/** True for a refusal that a modern server would not give to a well-formed request. */
export function looksLegacy(reply: Reply): boolean {
  return "error" in reply && reply.error.code === ErrorCode.Transport;
}
