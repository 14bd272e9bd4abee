/**
 * Streamable HTTP with sessions (2025-03-26 to 2025-11-25): what of it is HTTP. The session
 * itself is elsewhere; this door finds it, asks it, and gives its outcome a status.
 */

import { accepts } from "../lib/media-type.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import { isLegacyRevision } from "../protocol/revisions.ts";
import type { Outcome } from "../sessions/outcome.ts";
import { accepted, json, rpcError, sessionNotFound } from "./answers.ts";
import type { DoorContext, SessionStub } from "./door.ts";
import { sessionStream } from "./session-stream.ts";

export async function postLegacy(
  context: DoorContext,
  messages: readonly Parsed[],
  isBatch: boolean,
): Promise<Response> {
  const [first] = messages;
  const isOpening = !isBatch && first !== undefined && isInitialize(first);
  if (isOpening && !context.request.headers.has("mcp-session-id")) {
    const { id, session } = context.sessions.create();
    const outcome = await session.open(context.route, first);
    const isOpened = outcome.kind === "json" && outcome.isOpened === true;
    return answer(context, session, outcome, isOpened ? { "Mcp-Session-Id": id } : undefined);
  }
  if (isBatch && messages.some(isInitialize)) {
    const message = "initialize must not be part of a batch";
    return rpcError(400, { code: ErrorCode.InvalidRequest, message });
  }
  const found = findSession(context);
  if (found instanceof Response) return found;
  return answer(context, found, await found.receive(context.route, messages, isBatch));
}

function isInitialize(parsed: Parsed): boolean {
  return parsed.kind === "request" && parsed.message.method === "initialize";
}

export async function openStream(context: DoorContext): Promise<Response> {
  const { request } = context;
  if (!accepts(request.headers.get("accept"), "text/event-stream")) {
    const message = "Accept must list text/event-stream";
    return rpcError(406, { code: ErrorCode.Transport, message });
  }
  const found = findSession(context);
  if (found instanceof Response) return found;
  const lastEventId = request.headers.get("last-event-id") ?? undefined;
  return answer(context, found, await found.openStream(context.route, lastEventId));
}

export async function deleteSession(context: DoorContext): Promise<Response> {
  const found = findSession(context);
  if (found instanceof Response) return found;
  const wasOpen = await found.close(context.route);
  return wasOpen ? new Response(null, { status: 200 }) : sessionNotFound();
}

/** The session that the headers name, or the refusal that the specification has for them. */
function findSession({ request, sessions }: DoorContext): SessionStub | Response {
  const id = request.headers.get("mcp-session-id");
  if (id === null) {
    const message = "Mcp-Session-Id is missing; open a session with initialize";
    return rpcError(400, { code: ErrorCode.Transport, message });
  }
  const session = sessions.find(id);
  if (session === undefined) return sessionNotFound();
  // Absent is normal before 2025-06-18; what is there must be a revision (MUST 400).
  const version = request.headers.get("mcp-protocol-version");
  if (version !== null && !isLegacyRevision(version)) {
    const message = "MCP-Protocol-Version is not a revision that has sessions";
    return rpcError(400, { code: ErrorCode.Transport, message });
  }
  return session;
}

function answer(
  context: DoorContext,
  session: SessionStub,
  outcome: Outcome,
  headers?: Record<string, string>,
): Response {
  switch (outcome.kind) {
    case "accepted":
      return accepted();
    case "json":
      return json(outcome.body, 200, headers);
    case "stream":
      return sessionStream(context, session, outcome);
    case "unknown":
      return sessionNotFound();
    case "refused":
      return rpcError(outcome.status, outcome.error, outcome.id);
  }
}
