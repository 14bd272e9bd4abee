/**
 * What a session needs of the other side of the gateway. `bridge` satisfies it by shape; the
 * Durable Object wires the two.
 */

import type { Call, OpenQuestion, Peer } from "../protocol/exchange.ts";
import type { ErrorObject, JsonObject, Parsed, Reply } from "../protocol/json-rpc.ts";
import type { LegacyRevision } from "../protocol/revisions.ts";

/** What `initialize` fixed for the whole session. Plain data: it travels in the session's id. */
export interface ClientFacts {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
}

/** How the server introduces itself, or why it cannot. */
export type Opening =
  | {
      readonly capabilities: JsonObject;
      readonly serverInfo: JsonObject;
      readonly instructions?: string;
    }
  | { readonly error: ErrorObject };

/** Asks the server how it introduces itself to such a client. */
export type Introduce = (client: ClientFacts) => Promise<Opening>;

/** What to watch, for whoever holds the client's stream: opaque to the session. */
type StandaloneWatchRequest = object;

/** A message that a watch brought. */
export interface Watched {
  /** The server that was watched. */
  readonly slug: string;
  /** The watch has begun: nothing else of what is here is there. */
  readonly isOpen?: true;
  /** Nothing, when it can be taken up from here on though nothing was said. */
  readonly parsed?: Parsed;
  readonly lastEventId?: string;
  /** It was sent before, and nobody knows whether it came. */
  readonly isRepeated?: true;
  /** The ticket of the last message that is known to have come. */
  readonly known?: string | undefined;
}

/** An upstream session that a watch found forgotten. */
export interface Forgotten {
  readonly slug: string;
  readonly sessionId?: string;
}

export interface Dispatch {
  /** An upstream's failure is an error reply. Rejects only with the reason of `signal`. */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply>;
  /**
   * Takes up a request of an earlier life after the message of this ticket; like `request`.
   *
   * @param asked its questions that the client has not answered yet.
   */
  resume(
    ticket: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply>;
  /**
   * Answers the question that this ticket came with, in an earlier life. Never rejects.
   *
   * @returns whether the server has the answer, or does not want it.
   */
  answer(ticket: string, reply: Reply): Promise<boolean>;
  /** Best effort, as notifications are. */
  notify(call: Call): Promise<void>;

  /**
   * Watches what belongs to no request, here; and stops it.
   *
   * @param ticket of the last such message, if there was one.
   * @returns when whoever else watched can stop.
   */
  listen(ticket: string | undefined): Promise<void>;
  unlisten(): void;
  /**
   * Says what to watch for whoever does it instead. Until it does, it is watched here.
   *
   * @param onUnreachable called for a server that cannot be reached now.
   * @returns `undefined` when it can be watched nowhere else; then it still is, here.
   */
  watched(
    ticket: string | undefined,
    onUnreachable?: () => void,
  ): Promise<StandaloneWatchRequest | undefined>;
  /** A server is watched elsewhere: here no more. */
  handedOver(slug: string): void;
  /** Takes a message that such a watch brought. */
  receive(watched: Watched): Promise<void>;
  /** Such a watch found the upstream session forgotten. */
  forgotten(lost: Forgotten): Promise<void>;
  /** Nothing is ever said here that belongs to no request: there is nothing to watch. */
  readonly isSilent?: boolean;
  close(): Promise<void>;
}

export interface Unsolicited extends Peer {
  /**
   * Notes where such messages can be taken up, though nothing was said.
   *
   * @param isMore the ticket says more than the one before: else only the first counts, since what
   *   follows an event is found from there.
   */
  primed(ticket?: string, isMore?: boolean): void;
  /** There is an upstream session that was not there before. */
  reopened(): void;
  /** The ticket of the last such message. */
  lastResumeToken(): string | undefined;
  /** Whether a client's stream carries such messages now; else they wait for one. */
  hasOpenStream(): boolean;
}

/** @param unsolicited takes what belongs to no request. */
export type Connect = (client: ClientFacts, unsolicited: Unsolicited) => Dispatch;
