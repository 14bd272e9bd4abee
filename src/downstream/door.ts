/** What every front door works with: the request's surroundings, passed as one value. */

import type { Limits } from "../policy/limits.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import type { Watched } from "../sessions/dispatch.ts";
import type { Outcome } from "../sessions/outcome.ts";
import type { SessionClaims } from "../sessions/session-id.ts";
import type { SessionKeys } from "../sessions/session-keys.ts";
import type { UpstreamTarget } from "../upstream/target.ts";

export interface DoorContext {
  readonly request: Request;
  /** The path of the endpoint; a session belongs to the one it was opened at. */
  readonly route: string;
  /** Who is calling: a session belongs to whoever opened it. */
  readonly principal: string;
  readonly target: UpstreamTarget;
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly keys: SessionKeys;
  /** Keeps the Worker running for what outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** The sessions of this gateway; a Durable Object namespace satisfies it by shape. */
export interface Sessions {
  /** @returns the id of an object that is there for a new session. Nothing is woken or written. */
  create(): string;
  /** @returns `undefined` when it is known that the session was deleted. */
  find(claims: SessionClaims): SessionStub | undefined;
}

export type StreamOutcome =
  /** Frames, text by text; it is closed with a code of its own when the stream is over. */
  { readonly kind: "socket"; readonly socket: WebSocket } | Exclude<Outcome, { kind: "stream" }>;

/** One session. Every call may fail when its object is restarted; then it may be called anew. */
export interface SessionStub {
  receive(messages: readonly Parsed[], isBatch: boolean): Promise<Outcome>;
  /** Opens the stream of what belongs to no request, or takes up the one of an event. */
  openStream(lastEventId?: string): Promise<StreamOutcome>;
  /** Hands in what a watch brought, and that a watch found the upstream session forgotten. */
  watched(watched: Watched): Promise<void>;
  upstreamForgotten(sessionId?: string): Promise<void>;
  /** Tells that the reader of a stream that `receive` gave has gone. */
  detach(reader: string): Promise<void>;
  /** @returns `false` when there was no such session any more. */
  close(): Promise<boolean>;
}
