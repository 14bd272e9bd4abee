/**
 * A session's answer to a request: plain data and streams, because it crosses from a Durable Object to a
 * Worker, where exceptions lose their shape.
 */

import {
  type ErrorObject,
  errorResponse,
  type JsonRpcResponse,
  type RequestId,
} from "../protocol/json-rpc.ts";

export type SessionOutcome =
  /** The POST held only responses and notifications: 202. */
  | { readonly kind: "accepted" }
  | { readonly kind: "json"; readonly body: JsonRpcResponse }
  | ({ readonly kind: "stream" } & Opened)
  /** The request was cancelled before any message about it: none will be sent (cancellation). */
  | { readonly kind: "cancelled" }
  /** The session was never opened, is deleted, or has expired. */
  | { readonly kind: "unknown" }
  | RefusedRequest;

/**
 * The frames of a stream. Across an RPC boundary, a writer notices that its reader has gone only at the
 * next write, so the reading Worker reports it by the reader's name.
 */
export interface Opened {
  readonly body: ReadableStream<Uint8Array>;
  readonly reader: string;
  /** When the client opened it, in milliseconds since 1970; distinguishes it from a newer reader. */
  readonly openedAt: number;
  /** The event id before the first event: a stream that breaks before any event resumes there. */
  readonly start: string;
}

export interface RefusedRequest {
  readonly kind: "refused";
  readonly status: 400 | 409 | 429 | 503;
  readonly id?: RequestId;
  readonly error: ErrorObject;
}

export function refuseRequest(
  status: RefusedRequest["status"],
  code: number,
  message: string,
  id?: RequestId,
): RefusedRequest {
  const error = { code, message };
  return id === undefined
    ? { kind: "refused", status, error }
    : { kind: "refused", status, id, error };
}

/** An outcome as it crosses to the Worker: messages are text, as numbers that JavaScript cannot hold are. */
export type WrittenOutcome =
  | Exclude<SessionOutcome, { kind: "json" | "refused" }>
  | {
      readonly kind: "body";
      readonly status: 200 | RefusedRequest["status"];
      readonly text: string;
    };

export function writeOutcome(outcome: SessionOutcome): WrittenOutcome {
  switch (outcome.kind) {
    case "json":
      return { kind: "body", status: 200, text: JSON.stringify(outcome.body) };
    case "refused": {
      const { status, error, id } = outcome;
      return { kind: "body", status, text: JSON.stringify(errorResponse(error, id)) };
    }
    default:
      return outcome;
  }
}
