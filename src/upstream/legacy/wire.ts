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

export type Deliver = (parsed: Parsed) => Promise<void>;

/** Takes what a request brings. */
export interface Receiver {
  readonly deliver: Deliver;
  readonly isSettled: () => boolean;
  /** The server answers with a stream. */
  readonly opened: () => void;
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

  /** Sends what needs no answer. */
  post(message: JsonRpcNotification | JsonRpcResponse): Promise<void>;

  /**
   * Delivers what belongs to no request, until the wire is closed. Calling it again is harmless.
   *
   * @param onLost called when the session turns out to be forgotten.
   */
  listen(deliver: Deliver, onLost: () => void): void;
  /** Stops what `listen` started; the session stays. */
  unlisten(): void;

  /** Ends the session at the server, and everything that is open. */
  close(): Promise<void>;
}
