/** What every front door works with: the request's surroundings, passed as one value. */

import type { Bridges } from "../relay/modern-to-legacy/bridge.ts";
import type { FanOut } from "../catalog/feeds.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import type { Forgotten, Watched } from "../sessions/dispatch.ts";
import type { SessionOutcome } from "../sessions/session-outcome.ts";
import type { SessionClaims } from "../sessions/session-id.ts";

/** A session belongs to the endpoint that it was opened at, and to whoever opened it. */
export interface FrontDoorContext extends RequestScope {
  readonly request: Request;
  readonly sessions: Sessions;
  readonly fanOut: FanOut;
  readonly bridges: Bridges;
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
  | { readonly kind: "socket"; readonly socket: WebSocket; readonly openedAt: number }
  | Exclude<SessionOutcome, { kind: "stream" }>;

/** One session. Every call may fail when its object is restarted; then it may be called anew. */
export interface SessionStub {
  receive(messages: readonly Parsed[], isBatch: boolean): Promise<SessionOutcome>;
  /**
   * Opens the stream of what belongs to no request, or takes up the one of an event.
   *
   * @param openedAt of a stream that the client has open, while the way to it broke: one that the
   *   client has opened since stays the newest.
   */
  openStream(lastEventId?: string, openedAt?: number): Promise<StreamOutcome>;
  /** Hands in what a watch brought, and that a watch found an upstream session forgotten. */
  handOverWatched(watched: Watched): Promise<void>;
  upstreamForgotten(lost: Forgotten): Promise<void>;
  /** Tells that the reader of a stream that `receive` gave has gone. */
  detach(reader: string): Promise<void>;
  /** @returns `false` when there was no such session any more. */
  close(): Promise<boolean>;
}
