/**
 * HTTP+SSE of 2024-11-05: a GET stream whose first event names the URL for POSTs, and every answer to a
 * POST is sent on that stream. The status codes are those of the official SDK: the specification has
 * none.
 */

import { accepts } from "../lib/media-type.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { parseMessages, readableId, requestsOf } from "../protocol/json-rpc.ts";
import { encodeEvent } from "../protocol/sse.ts";
import { writeClaims } from "../sessions/session-id.ts";
import { jsonText, methodNotAllowed, rpcError, sessionNotFound } from "./answers.ts";
import { findSession, openSession, sessionOf } from "./client-session.ts";
import type { FrontDoorContext } from "./front-door.ts";
import { readBody } from "./read-body.ts";
import { openClientStream } from "./client-stream.ts";
import { holdStream } from "./held-stream.ts";
import { answered, arrivalOf } from "./trace.ts";

/** `GET /sse`, `GET /sse/<slug>` */
export async function serveSse(context: FrontDoorContext): Promise<Response> {
  const { request, route } = context;
  if (request.method !== "GET") return methodNotAllowed("GET, OPTIONS");
  if (!accepts(request.headers.get("accept") ?? "*/*", "text/event-stream")) {
    const message = "Accept must list text/event-stream";
    return rpcError(406, { code: ErrorCode.Transport, message });
  }
  const { id, claims } = await openSession(context);
  const session = sessionOf(context, claims);
  const outcome = await openClientStream(session);
  if (outcome.kind === "body") return jsonText(outcome.text, outcome.status);
  if (outcome.kind !== "socket") return sessionNotFound();
  // Relative, so that it is right behind any proxy; clients resolve it against the stream's URL.
  const endpoint = encodeEvent({ event: "endpoint", data: `${route}/message?sessionId=${id}` });
  return holdStream(context, {
    session,
    source: outcome.socket,
    openedAt: outcome.openedAt,
    preamble: endpoint,
    // The transport cannot resume a stream, so its events have no ids.
    encode: ({ data }) => (data === "" ? undefined : encodeEvent({ event: "message", data })),
  });
}

/** `POST /sse/message?sessionId=…` */
export async function serveSseMessage(context: FrontDoorContext): Promise<Response> {
  const { request, limits } = context;
  if (request.method !== "POST") return methodNotAllowed("POST, OPTIONS");
  const id = new URL(request.url).searchParams.get("sessionId");
  if (id === null) {
    const message = "sessionId is missing; open a stream with GET first";
    return rpcError(400, { code: ErrorCode.Transport, message });
  }
  const found = await findSession(context, id);
  if (found instanceof Response) return found;
  if (found.claims.client !== undefined) return sessionNotFound(); // an id of the other transport
  const body = await readBody(request, limits, []);
  if (!body.ok) return body.response;

  const messages = parseMessages(body.value);
  if (messages === undefined) {
    const message = "The body is not a JSON-RPC 2.0 message";
    return rpcError(400, { code: ErrorCode.InvalidRequest, message }, readableId(body.value));
  }
  const arrival = arrivalOf(context, requestsOf(messages)[0]?.params);
  const outcome = await found.object().receive(writeClaims(found.claims), body.text, arrival);
  switch (outcome.kind) {
    case "accepted":
      return answered(new Response("Accepted", { status: 202 }), arrival.trace);
    case "body":
      return answered(jsonText(outcome.text, outcome.status), arrival.trace);
    default:
      return sessionNotFound();
  }
}
