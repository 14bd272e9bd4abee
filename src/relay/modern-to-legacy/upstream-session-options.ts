/** The options of a session at a legacy server, its saved state, and a request in it. */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { LogLevel } from "../../protocol/log-levels.ts";
import type { Introduced } from "../../protocol/revisions/introductions.ts";
import type { SavedConnection } from "../../upstream/legacy/saved-connection.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";

interface SessionClient {
  /** Modern, and declared for the whole session. */
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
}

export interface UpstreamSessionOptions {
  readonly target: UpstreamTarget;
  readonly client: SessionClient;
  /** The time that the standalone stream stays open after the last request, in milliseconds. */
  readonly quietMs: number;
  /**
   * The URIs that clients listen for: some servers send an update only in the session whose request
   * caused it.
   */
  readonly attended: () => ReadonlySet<string>;
  /** Resolves when the clients that are about to listen again have done so. */
  readonly returning?: () => Promise<void> | undefined;
  /** Receives the URI of a resource that has changed. */
  readonly hear: (uri: string) => void;
  readonly saved?: SavedUpstreamSession | undefined;
  /** Called with each change of the state. */
  readonly save: (change: SavedUpstreamSession) => void;
}

/** The state of a session that outlives memory; plain data of a bounded size. */
export interface SavedUpstreamSession {
  readonly connection?: SavedConnection;
  /** The server's introduction. */
  readonly introduced?: Introduced;
  /** A tool was called. */
  readonly isCalled?: boolean;
}

/** One request and the peer for its messages. */
export interface SessionRequest {
  readonly call: Call;
  readonly logLevel?: LogLevel;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}
