/**
 * A client's stream, opened at the object of its session: a request to upgrade to WebSocket, with the
 * session's claims. RPC carries no WebSocket.
 */

import { readClaims, type SessionClaims, writeClaims } from "../sessions/session-id.ts";
import type { WrittenOutcome } from "../sessions/session-outcome.ts";
import type { FoundSession } from "./client-session.ts";

export type StreamOutcome =
  /** One frame in each text message; `OVER_CODE` closes the socket at the end of the stream. */
  | { readonly kind: "socket"; readonly socket: WebSocket; readonly openedAt: number }
  | Exclude<WrittenOutcome, { kind: "stream" }>;

export interface StreamRequest {
  readonly claims: SessionClaims;
  /** Absent for a new standalone GET stream. */
  readonly lastEventId?: string | undefined;
  /**
   * When the client opened the stream, in milliseconds since 1970, if only the connection to the
   * object broke: a stream that the client has opened since stays the newest.
   */
  readonly openedAt?: number | undefined;
}

const HEADER = "Edgeway-Stream";
const OPENED_AT = "Edgeway-Opened-At";

/** Opens the standalone GET stream, or resumes the stream of an event. */
export async function openClientStream(
  { claims, object }: FoundSession,
  place: Omit<StreamRequest, "claims"> = {},
): Promise<StreamOutcome> {
  const response = await object().fetch(streamRequest({ claims, ...place }));
  const { webSocket } = response;
  if (webSocket === null) return response.json<Exclude<StreamOutcome, { kind: "socket" }>>();
  return { kind: "socket", socket: webSocket, openedAt: openedAtOf(response) };
}

export function streamRequest({ claims, ...place }: StreamRequest): Request {
  const text = JSON.stringify({ claims: writeClaims(claims), ...place });
  // Header values are ASCII, and a client's name may be other text.
  const headers = { Upgrade: "websocket", [HEADER]: encodeURIComponent(text) };
  return new Request("https://session.internal/", { headers });
}

/** Reads what `streamRequest` wrote: only this gateway's Workers reach its objects. */
export function readStreamRequest({ headers }: Request): StreamRequest {
  const { claims, ...place } = JSON.parse(decodeURIComponent(headers.get(HEADER) ?? "")) as Omit<
    StreamRequest,
    "claims"
  > & { readonly claims: string };
  return { claims: readClaims(claims), ...place };
}

export function streamResponse(webSocket: WebSocket, openedAt: number): Response {
  return new Response(null, { status: 101, webSocket, headers: { [OPENED_AT]: String(openedAt) } });
}

/** When the client opened the stream of a `streamResponse`, in milliseconds since 1970. */
export function openedAtOf({ headers }: Response): number {
  return Number(headers.get(OPENED_AT));
}
