/** The MCP endpoint: one URL for both eras. Reads and classifies a message, then passes it on. */

import { classify } from "../protocol/classify.ts";
import { claimsModernEra } from "../protocol/revisions.ts";
import { accepted, methodNotAllowed, rpcError } from "./answers.ts";
import type { FrontDoorContext } from "./front-door.ts";
import { answerModern } from "./modern.ts";
import { readBody } from "./read-body.ts";
import { deleteSession, openStream, postLegacy } from "./streamable-http.ts";

const BOTH_TYPES = ["application/json", "text/event-stream"] as const;

export async function serveMcp(context: FrontDoorContext): Promise<Response> {
  const { request } = context;
  switch (request.method) {
    case "POST":
      return post(context);
    case "GET":
      return isModern(request) ? methodNotAllowed("POST") : openStream(context);
    case "DELETE":
      return isModern(request) ? methodNotAllowed("POST") : deleteSession(context);
    default:
      return methodNotAllowed("GET, POST, DELETE, OPTIONS");
  }
}

/** GET and DELETE belong to sessions, which 2026-07-28 does not have (SHOULD answer 405). */
function isModern(request: Request): boolean {
  const version = request.headers.get("mcp-protocol-version");
  return version !== null && claimsModernEra(version);
}

async function post(context: FrontDoorContext): Promise<Response> {
  const { request, limits } = context;
  const body = await readBody(request, limits, BOTH_TYPES);
  if (!body.ok) return body.response;

  const classified = classify(body.value, {
    protocolVersion: request.headers.get("mcp-protocol-version"),
    method: request.headers.get("mcp-method"),
    name: request.headers.get("mcp-name"),
  });
  switch (classified.kind) {
    case "rejected":
      return rpcError(classified.status, classified.error, classified.id);
    case "modern-notification":
      // 2026-07-28 defines no client notification over HTTP: it is accepted and ignored.
      return accepted();
    case "modern":
      return answerModern(context, classified.message, classified.envelope);
    case "legacy":
      return postLegacy(context, classified.messages, classified.isBatch, body.text);
  }
}
