/** The context of a request, passed to every transport as one value. */

import type { Arrival } from "../protocol/call-span.ts";
import type { CallRecord, CallSink } from "../observability/call-record.ts";
import type { Bridges } from "../relay/modern-to-legacy/bridge.ts";
import type { FanOut } from "../catalog/feeds.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Tracer } from "../protocol/tracer.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import type { PublishedList } from "../publishing/publisher.ts";
import type { Forgotten } from "../sessions/dispatch.ts";
import type { WrittenOutcome } from "../sessions/session-outcome.ts";

/** A session belongs to the endpoint that opened it and to the principal that opened it. */
export interface FrontDoorContext extends RequestScope {
  readonly request: Request;
  /** The endpoint as it is now, for a stream that is held for long; `undefined` where it has no server any more. */
  readonly endpointOfNow: () => Promise<Endpoint | undefined>;
  readonly sessions: Sessions;
  readonly fanOut: FanOut;
  readonly bridges: Bridges;
  /** @returns what records the spans of this request, if anything does. */
  readonly tracer?: () => Tracer | undefined;
  /** Takes the records of calls that have ended in objects. */
  readonly activity?: CallSink | undefined;
  /** What the person publishes, for their sessions; absent of those who publish nothing. */
  readonly published?: PublishedList | undefined;
}

/** What a message comes with, on its way to the object of a session. Plain data. */
export interface MessageArrival extends Arrival {
  /** The caller takes the records of calls: a Worker of an earlier version does not. */
  readonly takesCalls?: boolean;
}

/** @property calls those that have ended, for the caller to send on. */
export type Received = WrittenOutcome & { readonly calls?: readonly CallRecord[] };

/** The port to the sessions of this gateway. */
export interface Sessions {
  /** @returns the id of an object for a new session. No object is woken and nothing is written. */
  create(): string;
  /** @returns the object of this id, for one call. */
  at(object: string): SessionStub;
}

/**
 * The object of one session. Every call may fail when it restarts, and may then be repeated. Claims
 * (`writeClaims`) and messages are passed as JSON, because numbers that JavaScript cannot hold cannot be
 * cloned (`lib/lossless-json.ts`).
 */
export interface SessionStub {
  /** @param body of a POST: a message or a batch, which the caller has checked. */
  receive(claims: string, body: string, arrival: MessageArrival): Promise<Received>;
  /** Opens a stream: `openClientStream` makes the request. */
  fetch(request: Request): Promise<Response>;
  /** Delivers a message from a watch. @param watched a `Watched`. */
  receiveWatched(claims: string, watched: string): Promise<void>;
  /** Reports that a watch found an upstream session unknown to its server. */
  upstreamForgotten(claims: string, lost: Forgotten): Promise<void>;
  /** Reports that the reader of a stream that `receive` returned has gone. */
  detach(reader: string): Promise<void>;
  /** Deletes the session. @returns `false` when it no longer existed. */
  close(claims: string): Promise<boolean>;
}
