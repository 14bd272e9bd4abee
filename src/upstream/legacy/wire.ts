/**
 * The port between a legacy connection and its transport. A wire moves messages and knows of
 * ids only what its transport needs; who waits for what is the connection's business.
 */

import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  Parsed,
} from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";

/** @param lastEventId the server's id of the event that the message came in, if it gives ids. */
export type Deliver = (parsed: Parsed, lastEventId?: string) => Promise<void>;

/** Takes what belongs to no request. */
export interface StandaloneStreamListener {
  readonly deliver: Deliver;
  /** The stream can be taken up from here on, though nothing was said yet. */
  readonly primed: (lastEventId: string) => void;
  /** The session turns out to be forgotten. */
  readonly onLost: () => void;
  /**
   * The stream is open, for the first time or again.
   *
   * @param isContinued it goes on after the last event that came, so that nothing was missed.
   */
  readonly opened?: (isContinued: boolean) => void;
  /** The stream broke, and will be opened again. */
  readonly broken?: () => void;
  /**
   * Whoever listened before can stop: the stream is open, or it cannot be opened while another is, or
   * the server takes too long to say. Called once, or again for who listens already.
   */
  readonly standing?: () => void;
  /** The server has no such stream, or none any more; it is not asked for again. */
  readonly refused?: () => void;
}

/** Takes what a request brings. */
export interface Receiver {
  readonly deliver: Deliver;
  readonly isSettled: () => boolean;
  /** The request is on its way from now on: the server may have it. */
  readonly sent: () => void;
  /** The server answers with a stream that can be taken up from here on. */
  readonly primed: (lastEventId?: string) => void;
  /** The server closed the connection, and the stream will be taken up again. */
  readonly released: () => void;
}

export interface Wire {
  /** What it takes to find the same session again after the holder's memory was lost. */
  readonly sessionId: string | undefined;

  /** The revision that the handshake agreed on; sent as a header from then on. */
  agree(revision: LegacyRevision): void;

  /**
   * Sends a request and delivers what arrives on its stream, until it is settled or the stream ends.
   * A broken stream is taken up again where the server gave event ids; never is the request
   * sent twice.
   *
   * @throws UpstreamError `session-lost` when the server refused the session id, so that the
   *   request provably did not run; any other failure as it was; the abort reason when aborted.
   */
  request(message: JsonRpcRequest, receiver: Receiver, signal: AbortSignal): Promise<void>;

  /**
   * Takes up the stream of a request that was sent in an earlier life of its holder.
   *
   * @throws UpstreamError `lost` when it cannot be had any more.
   */
  resume(lastEventId: string, receiver: Receiver, signal: AbortSignal): Promise<void>;

  /** Sends what needs no answer. */
  post(message: JsonRpcNotification | JsonRpcResponse): Promise<void>;

  /**
   * Delivers what belongs to no request, until the wire is closed. Calling it again is harmless.
   * What is sent after this does not overtake it: a server says what it has to say because of a
   * request to who listens by then, and to nobody else.
   *
   * @param lastEventId the last such event that is known, if the server gives ids.
   */
  listen(listener: StandaloneStreamListener, lastEventId?: string): void;
  /** Stops what `listen` started; the session stays. */
  unlisten(): void;

  /**
   * Gives up a session that the server has forgotten, without a word: what it holds open is closed.
   * Requests that have a stream of their own go on.
   */
  drop(): void;

  /** Ends the session at the server, and everything that is open. */
  close(): Promise<void>;
}
