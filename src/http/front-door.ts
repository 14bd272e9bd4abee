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
  /** @returns the object of this id, for one call. */
  at(object: string): SessionStub;
}

/** The object of one session. Every call may fail when it restarts, and may then be repeated. */
export interface SessionStub {
  receive(
    claims: SessionClaims,
    messages: readonly Parsed[],
    isBatch: boolean,
  ): Promise<SessionOutcome>;
  /** Opens a stream: `openClientStream` makes the request. */
  fetch(request: Request): Promise<Response>;
  /** Delivers a message from a watch. */
  receiveWatched(claims: SessionClaims, watched: Watched): Promise<void>;
  /** Reports that a watch found an upstream session unknown to its server. */
  upstreamForgotten(claims: SessionClaims, lost: Forgotten): Promise<void>;
  /** Reports that the reader of a stream that `receive` returned has gone. */
  detach(reader: string): Promise<void>;
  /** Deletes the session. @returns `false` when it no longer existed. */
  close(claims: SessionClaims): Promise<boolean>;
}
