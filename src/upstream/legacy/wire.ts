/**
 * The port between a legacy connection and its transport. A wire moves messages and knows of ids
 * only what its transport needs; the connection matches responses to their requests.
 */

import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  Parsed,
} from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import type { TraceHeaders } from "../../protocol/trace-context.ts";
import type { UsableCredential } from "../credentials.ts";

/** @param lastEventId the server's id of the event that the message came in, if it gives ids. */
export type Deliver = (parsed: Parsed, lastEventId?: string) => Promise<void>;

/** The session of a server in which a message came, and its questions are answered. */
export type MessageSession = Pick<Wire, "post" | "sessionMark">;

/** As `Deliver`, of whatever session. */
export type DeliverFrom = (
  session: MessageSession,
  ...message: Parameters<Deliver>
) => Promise<void>;

/** Receives the messages and the state of the standalone GET stream. */
export interface StandaloneStreamListener {
  readonly deliver: Deliver;
  /** The stream can be resumed after this event, though it has carried no message yet. */
  readonly primed: (lastEventId: string) => void;
  /** The server has forgotten the session. */
  readonly onLost: () => void;
  /**
   * The stream is open, for the first time or again.
   *
   * @param isContinued the stream goes on after the last received event, so no event was missed.
   */
  readonly opened?: (isContinued: boolean) => void;
  /** The stream broke, and will be opened again. */
  readonly broken?: () => void;
  /**
   * The previous listener can stop: the stream is open, or it cannot be opened while another is, or
   * the server takes too long to respond. Called once, and again when `listen` is repeated.
   */
  readonly standing?: () => void;
  /** The server does not offer the stream, or not any more; it is not requested again. */
  readonly refused?: () => void;
}

/** Receives the messages on a request's stream, and the state of that stream. */
export interface Receiver {
  readonly deliver: Deliver;
  readonly isSettled: () => boolean;
  /** The request is about to be sent: from now on the server may have it. */
  readonly sent: () => void;
  /** The server answers with a stream that can be resumed after this event. */
  readonly primed: (lastEventId?: string) => void;
  /** The server closed the connection, and the stream will be resumed. */
  readonly released: () => void;
}

export interface Wire {
  /** The `Mcp-Session-Id`, by which the session is found again after its holder lost its memory. */
  readonly sessionId: string | undefined;
  /**
   * Distinguishes the session from others at the server. `undefined` at a server without sessions, where there is
   * nothing to distinguish.
   */
  readonly sessionMark: string | undefined;
  /** The account that the session was opened with, at a server with accounts. */
  readonly accountId: string | undefined;

  /** Sets the revision that the handshake agreed on; it is sent as a header from then on. */
  agree(revision: LegacyRevision): void;

  /**
   * Sends a request and delivers the messages of its stream, until it is settled or the stream ends.
   * A broken stream is resumed where the server gave event ids; the request is never sent twice.
   *
   * @param trace headers of the request itself; resuming its stream has none.
   * @throws UpstreamError `session-lost` when the server refused the session id, or the caller has
   *   another account by now, so that the request provably did not run; any other failure unchanged; the abort reason when aborted.
   */
  request(
    message: JsonRpcRequest,
    receiver: Receiver,
    signal: AbortSignal,
    trace?: TraceHeaders,
  ): Promise<void>;

  /**
   * Resumes the stream of a request that was sent before its holder lost its memory.
   *
   * @throws UpstreamError `lost` when the stream is no longer available.
   */
  resume(lastEventId: string, receiver: Receiver, signal: AbortSignal): Promise<void>;

  /** Sends a message that has no response. */
  post(message: JsonRpcNotification | JsonRpcResponse): Promise<void>;

  /**
   * Opens the standalone stream and delivers its messages until the wire is closed. Calling it again
   * is harmless. Requests and notifications sent after this wait for it, because a server sends the messages
   * that a request causes only to streams that are open by then.
   *
   * @param lastEventId the last received event of the stream, if the server gives ids.
   */
  listen(listener: StandaloneStreamListener, lastEventId?: string): void;
  /** Resolves when the server has answered the request for the standalone stream; `undefined` while none is under way. */
  readonly opening: Promise<void> | undefined;
  /** Stops what `listen` started; the session stays. */
  unlisten(): void;

  /**
   * Gives up a session that the server has forgotten, without a message to it, and closes what the
   * session holds open. Requests that have a stream of their own go on.
   */
  drop(): void;

  /**
   * Ends the session at the server and closes everything that is open.
   *
   * @param last the credential of the session, when its account has ended.
   */
  close(last?: UsableCredential): Promise<void>;
}
