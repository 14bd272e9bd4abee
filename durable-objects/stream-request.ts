/** A Worker's request for a client's stream: an upgrade to WebSocket with the session's claims. */

import type { SessionClaims } from "../src/sessions/session-id.ts";

export interface StreamRequest {
  readonly claims: SessionClaims;
  readonly lastEventId?: string | undefined;
  /** When the client opened the stream; absent for a new stream, for which the object sets the time. */
  readonly openedAt?: number | undefined;
}

const HEADER = "Edgeway-Stream";
const OPENED_AT = "Edgeway-Opened-At";

export function streamRequest(request: StreamRequest): Request {
  // Header values are ASCII, and a client's name may be other text.
  const headers = { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(request)) };
  return new Request("https://session.internal/", { headers });
}

/** Reads what `streamRequest` wrote: only this gateway's Workers reach its objects. */
export function readStreamRequest({ headers }: Request): StreamRequest {
  return JSON.parse(decodeURIComponent(headers.get(HEADER) ?? "")) as StreamRequest;
}

export function streamResponse(webSocket: WebSocket, openedAt: number): Response {
  return new Response(null, { status: 101, webSocket, headers: { [OPENED_AT]: String(openedAt) } });
}

/** When the client opened the stream of a `streamResponse`, in milliseconds since 1970. */
export function openedAtOf({ headers }: Response): number {
  return Number(headers.get(OPENED_AT));
}
