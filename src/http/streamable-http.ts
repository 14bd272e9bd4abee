/**
 * Streamable HTTP with sessions (2025-03-26 to 2025-11-25): its HTTP part, and the messages that are
 * answered without waking the session: `initialize`, `ping` and `notifications/initialized`.
 */

import { introduceTo } from "../dispatch/legacy/introduce-endpoint.ts";
import { accepts } from "../lib/media-type.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import {
  errorReply,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Parsed,
  type RequestId,
  requestsOf,
  respond,
} from "../protocol/json-rpc.ts";
import { allowsPriming, isLegacyRevision } from "../protocol/revisions.ts";
import { encodeEvent } from "../protocol/sse.ts";
import type { EventFrame } from "../sessions/frame.ts";
import { initialize } from "../sessions/initialize.ts";
import { writeClaims } from "../sessions/session-id.ts";
import type { WrittenOutcome } from "../sessions/session-outcome.ts";
import { accepted, emptyStream, json, jsonText, rpcError, sessionNotFound } from "./answers.ts";
import { closeSession, findSession, type FoundSession, openSession } from "./client-session.ts";
import { openClientStream, type StreamOutcome } from "./client-stream.ts";
import type { FrontDoorContext, Received } from "./front-door.ts";
import { lineSource } from "./frame-source.ts";
import { type HeldStreamOptions, holdStream } from "./held-stream.ts";
import { answered, arrivalOf } from "./trace.ts";

const UNKNOWN_OUTCOME = "The gateway was restarted while this ran; whether it was done is unknown";

/** @param body the text of the messages. */
export async function postLegacy(
  context: FrontDoorContext,
  messages: readonly Parsed[],
  isBatch: boolean,
  body: string,
): Promise<Response> {
  if (isBatch && messages.some(isInitialize)) {
    const message = "initialize must not be part of a batch";
    return rpcError(400, { code: ErrorCode.InvalidRequest, message });
  }
  const [first] = messages;
  const opening =
    !isBatch && first !== undefined && isInitialize(first) ? first.message : undefined;
  const hasSession = context.request.headers.has("mcp-session-id");
  if (opening !== undefined && !hasSession) return answerInitialize(context, opening);

  const requestId = !isBatch && first?.kind === "request" ? first.message.id : undefined;
  const found = await namedSession(context, requestId);
  if (found instanceof Response) return found;
  if (opening !== undefined) {
    const message = "The session is initialized already";
    return rpcError(400, { code: ErrorCode.InvalidRequest, message }, opening.id);
  }
  if (!isBatch && first !== undefined) {
    const { kind, message } = first;
    if (kind === "request" && message.method === "ping") {
      return json(respond(message.id, { result: {} }));
    }
    // The server gets its own `notifications/initialized` when its session is opened.
    if (kind === "notification" && message.method === "notifications/initialized")
      return accepted();
  }
  return answerCall(context, found, { messages, isBatch }, body);
}

function isInitialize(parsed: Parsed): parsed is Extract<Parsed, { kind: "request" }> {
  return parsed.kind === "request" && parsed.message.method === "initialize";
}

async function answerInitialize(
  context: FrontDoorContext,
  { id, params }: JsonRpcRequest,
): Promise<Response> {
  const { reply, client } = await initialize(params, (facts) => introduceTo(facts, context));
  if (client === undefined) return json(respond(id, reply));
  const opened = await openSession(context, client);
  return json(respond(id, reply), 200, { "Mcp-Session-Id": opened.id });
}

async function answerCall(
  context: FrontDoorContext,
  found: FoundSession,
  { messages, isBatch }: { readonly messages: readonly Parsed[]; readonly isBatch: boolean },
  text: string,
): Promise<Response> {
  const [request, ...others] = requestsOf(messages);
  const arrival = arrivalOf(context, request?.params);
  const { activity, waitUntil } = context;
  let outcome: Received;
  try {
    outcome = await found.object().receive(writeClaims(found.claims), text, {
      ...arrival,
      takesCalls: activity !== undefined,
    });
  } catch {
    return answerUnknown(messages, isBatch);
  }
  outcome.calls?.forEach((call) => activity?.record(call, waitUntil));
  if (outcome.kind !== "stream") return answered(answer(outcome), arrival.trace);
  const { body, reader, openedAt, start } = outcome;
  // A failure is ignored: the session has gone as well.
  const detach = (): void =>
    context.waitUntil(
      found
        .object()
        .detach(reader)
        .catch(() => undefined),
    );
  // In a batch, some requests may have been answered already.
  const closingMessage =
    request === undefined || others.length > 0
      ? undefined
      : encodeEvent({ event: "message", data: JSON.stringify(unknownOutcome(request)) });
  const held = hold(context, found, {
    source: lineSource(body, detach),
    openedAt,
    start,
    closingMessage,
  });
  return answered(held, arrival.trace);
}

/** The session's object restarted before it had an answer, or an event to resume from. */
function answerUnknown(messages: readonly Parsed[], isBatch: boolean): Response {
  const answers = requestsOf(messages).map(unknownOutcome);
  const [first] = answers;
  if (first !== undefined) return jsonText(JSON.stringify(isBatch ? answers : first), 200);
  return rpcError(500, { code: ErrorCode.InternalError, message: UNKNOWN_OUTCOME });
}

function unknownOutcome({ id }: JsonRpcRequest): JsonRpcResponse {
  return respond(id, errorReply(ErrorCode.InternalError, UNKNOWN_OUTCOME));
}

export async function openStream(context: FrontDoorContext): Promise<Response> {
  const { request } = context;
  if (!accepts(request.headers.get("accept"), "text/event-stream")) {
    const message = "Accept must list text/event-stream";
    return rpcError(406, { code: ErrorCode.Transport, message });
  }
  const found = await namedSession(context);
  if (found instanceof Response) return found;
  const lastEventId = request.headers.get("last-event-id") ?? undefined;
  const outcome = await openClientStream(found, { lastEventId });
  if (outcome.kind !== "socket") return answer(outcome);
  const { socket: source, openedAt } = outcome;
  return hold(context, found, { source, openedAt, after: lastEventId });
}

export async function deleteSession(context: FrontDoorContext): Promise<Response> {
  const found = await namedSession(context);
  if (found instanceof Response) return found;
  const wasOpen = await closeSession(found);
  return wasOpen ? new Response(null, { status: 200 }) : sessionNotFound();
}

/**
 * Finds the session that the headers name.
 *
 * @param requestId the id of the request in the body, for the refusal.
 * @returns the session, or the refusal of the specification: 400 for bad headers, 404 for the session.
 */
async function namedSession(
  context: FrontDoorContext,
  requestId?: RequestId,
): Promise<FoundSession | Response> {
  const { headers } = context.request;
  const id = headers.get("mcp-session-id");
  if (id === null) {
    const message = "Mcp-Session-Id is missing; open a session with initialize";
    return rpcError(400, { code: ErrorCode.Transport, message }, requestId);
  }
  const found = await findSession(context, id);
  if (found instanceof Response) return found;
  const { client } = found.claims;
  if (client === undefined) return sessionNotFound(); // an id of the other transport
  // Clients before 2025-06-18 omit it; otherwise it must be the negotiated revision (MUST 400).
  const version = headers.get("mcp-protocol-version");
  if (version !== null && !isLegacyRevision(version)) {
    const message = "MCP-Protocol-Version is not a revision that has sessions";
    return rpcError(400, { code: ErrorCode.Transport, message }, requestId);
  }
  if (version !== null && version !== client.revision) {
    const message = `MCP-Protocol-Version is ${version}, but this session agreed on ${client.revision}`;
    return rpcError(400, { code: ErrorCode.Transport, message }, requestId);
  }
  return found;
}

function hold(
  context: FrontDoorContext,
  session: FoundSession,
  stream: Pick<HeldStreamOptions, "source" | "openedAt" | "after" | "start" | "closingMessage">,
): Response {
  const revision = session.claims.client?.revision;
  const isPrimed = revision !== undefined && allowsPriming(revision);
  const retry = context.limits.retryMilliseconds;
  const encode = (event: EventFrame): string | undefined => {
    const { id, data } = event;
    if (data !== "") return encodeEvent({ event: "message", id, data });
    // A place to resume from before any event (2025-11-25: SHOULD); older clients would parse the empty
    // data as a message.
    return isPrimed ? encodeEvent({ id, retry, data }) : undefined;
  };
  return holdStream(context, { ...stream, session, encode });
}

function answer(
  outcome: Exclude<WrittenOutcome | StreamOutcome, { kind: "stream" | "socket" }>,
): Response {
  switch (outcome.kind) {
    case "accepted":
      return accepted();
    case "body":
      return jsonText(outcome.text, outcome.status);
    case "cancelled":
      return emptyStream();
    case "unknown":
      return sessionNotFound();
  }
}
