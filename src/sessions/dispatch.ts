/**
 * The port through which a session reaches its servers. `dispatch/legacy` implements it; the session's
 * Durable Object wires the two.
 */

import type { Call, OpenQuestion, Peer } from "../protocol/exchange.ts";
import type { ErrorObject, JsonObject, Reply } from "../protocol/json-rpc.ts";
import type { LegacyRevision } from "../protocol/revisions.ts";
import type { EndedAccount } from "../upstream/credentials.ts";
import type { WatchedMessage } from "../upstream/legacy/watch-standalone-stream.ts";

/** A client as its `initialize` described it. Plain data: it travels in the session's id. */
export interface ClientFacts {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
}

/** The server's part of the `initialize` result, or the error in its place. */
export type Opening =
  | {
      readonly capabilities: JsonObject;
      readonly serverInfo: JsonObject;
      readonly instructions?: string;
    }
  | { readonly error: ErrorObject };

/** Gets the server's part of the `initialize` result for such a client. */
export type Introduce = (client: ClientFacts) => Promise<Opening>;

/** The servers to watch, for the Worker that holds the client's stream: opaque to the session. */
type StandaloneWatchRequest = object;

/** A message that a watch on a server received. */
export interface Watched extends WatchedMessage {
  /** The slug of the watched server. */
  readonly slug: string;
  /** The watch has begun; no other member but `slug` is present. */
  readonly isOpen?: true;
}

/** How a client came to listen. */
export interface Listening {
  /** It has listened before, on the same stream. */
  readonly isAgain?: boolean;
  /** Messages that waited for the stream are no longer kept. */
  readonly hasMissed?: boolean;
}

/** An upstream session that its server no longer knows, as a watch found. */
export interface Forgotten {
  readonly slug: string;
  readonly sessionId?: string;
}

export interface Dispatch {
  /** A server's failure is an error reply. @throws only the reason of `signal`. */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply>;
  /**
   * Resumes a request of an earlier life after the message of this resume token; like `request`.
   *
   * @param asked the request's questions that the client has not answered yet.
   */
  resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply>;
  /**
   * Answers the question of an earlier life that has this resume token. Never rejects.
   *
   * @returns `true` when the server has the answer or does not want it.
   */
  answer(resumeToken: string, reply: Reply): Promise<boolean>;
  /** Best effort: a notification has no answer. */
  notify(call: Call): Promise<void>;

  /**
   * Holds the servers' standalone GET streams open here; `unlisten` closes them.
   *
   * @param resumeToken resumes after the last message of these streams, if there was one.
   * @param isWatched there is a watch on them elsewhere, which goes on until then.
   * @returns when any other watch on them may stop.
   */
  listen(resumeToken: string | undefined, isWatched: boolean): Promise<void>;
  unlisten(): void;
  /**
   * Describes the streams for a watch elsewhere. They stay open here until that watch has begun.
   *
   * @param onUnreachable called for a server that cannot be reached now.
   * @returns `undefined` when they cannot be watched elsewhere; then they stay open here.
   */
  watched(
    resumeToken: string | undefined,
    onUnreachable?: () => void,
  ): Promise<StandaloneWatchRequest | undefined>;
  /** Closes the stream of a server here: it is watched elsewhere now. */
  handedOver(slug: string): void;
  /** Takes a message from a watch elsewhere. */
  receive(watched: Watched): Promise<void>;
  /** A watch elsewhere found that the server no longer knows its session. */
  forgotten(lost: Forgotten): Promise<void>;
  /** Ends the session that was opened with this account at a server. */
  accountEnded(ended: EndedAccount): Promise<void>;
  /** The servers of the endpoint are others now: ends what was opened at those that are gone. */
  serversChanged(): void;
  close(): Promise<void>;
}

export interface Unsolicited extends Peer {
  /**
   * Notes where the standalone stream can be resumed, before any message on it.
   *
   * @param isMore the resume token replaces the one before. Otherwise only the first counts, since
   *   later places are found from the last event.
   */
  primed(resumeToken?: string, isMore?: boolean): void;
  /** A new upstream session was opened. */
  reopened(): void;
  /** @returns the resume token of the last message on the standalone stream. */
  lastResumeToken(): string | undefined;
  /** @returns `false` while messages wait for a client's stream to carry them. */
  hasOpenStream(): boolean;
}

/** @param unsolicited receives the messages that belong to no request. */
export type Connect = (client: ClientFacts, unsolicited: Unsolicited) => Dispatch;
