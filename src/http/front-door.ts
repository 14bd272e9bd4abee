/** The context of a request, passed to every transport as one value. */

import type { Bridges } from "../relay/modern-to-legacy/bridge.ts";
import type { FanOut } from "../catalog/feeds.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import type { Forgotten, Watched } from "../sessions/dispatch.ts";
import type { SessionOutcome } from "../sessions/session-outcome.ts";
import type { SessionClaims } from "../sessions/session-id.ts";

/** A session belongs to the endpoint that opened it and to the principal that opened it. */
export interface FrontDoorContext extends RequestScope {
  readonly request: Request;
  readonly sessions: Sessions;
  readonly fanOut: FanOut;
  readonly bridges: Bridges;
}

/** The port to the sessions of this gateway. */
export interface Sessions {
  /** @returns the id of an object for a new session. No object is woken and nothing is written. */
  create(): string;
  /** @returns `undefined` when the session is known to be deleted. */
  find(claims: SessionClaims): SessionStub | undefined;
}

export type StreamOutcome =
  /** One frame in each text message; `OVER_CODE` closes the socket at the end of the stream. */
  | { readonly kind: "socket"; readonly socket: WebSocket; readonly openedAt: number }
  | Exclude<SessionOutcome, { kind: "stream" }>;

/** One session. Every call may fail when its object restarts; it may then be repeated. */
export interface SessionStub {
  receive(messages: readonly Parsed[], isBatch: boolean): Promise<SessionOutcome>;
  /**
   * Opens the standalone GET stream, or resumes the stream of an event.
   *
   * @param openedAt when the client opened the stream, in milliseconds since 1970, if only the connection
   *   to the object broke: a stream that the client has opened since stays the newest.
   */
  openStream(lastEventId?: string, openedAt?: number): Promise<StreamOutcome>;
  /** Delivers a message from a watch. */
  handOverWatched(watched: Watched): Promise<void>;
  /** Reports that a watch found an upstream session unknown to its server. */
  upstreamForgotten(lost: Forgotten): Promise<void>;
  /** Reports that the reader of a stream that `receive` returned has gone. */
  detach(reader: string): Promise<void>;
  /** Deletes the session. @returns `false` when it no longer existed. */
  close(): Promise<boolean>;
}
