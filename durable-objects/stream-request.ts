/** How a Worker asks an object for a client's stream: an upgrade to WebSocket, and whose it is. */

import type { SessionClaims } from "../src/sessions/session-id.ts";

export interface StreamRequest {
  readonly claims: SessionClaims;
  readonly lastEventId?: string | undefined;
}

const HEADER = "Edgeway-Stream";

export function streamRequest(request: StreamRequest): Request {
  // Header values are ASCII, and a client's name need not be.
  const headers = { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(request)) };
  return new Request("https://session.internal/", { headers });
}

/** Reads what `streamRequest` wrote: only this gateway's Workers reach its objects. */
export function readStreamRequest({ headers }: Request): StreamRequest {
  return JSON.parse(decodeURIComponent(headers.get(HEADER) ?? "")) as StreamRequest;
}
