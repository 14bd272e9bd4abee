/** What a session at a legacy server is made with, and what is asked of it. */

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
  /** How long the server is listened to after the last request. */
  readonly quietMs: number;
  /** What clients listen for: some servers tell of it in the session alone that it was done in. */
  readonly attended: () => ReadonlySet<string>;
  /** Clients that listen are about to come back: resolves when they have. */
  readonly returning?: () => Promise<void> | undefined;
  /** Takes word of a resource that has changed. */
  readonly hear: (uri: string) => void;
  readonly saved?: SavedUpstreamSession | undefined;
  /** Called with what has changed, whenever it does. */
  readonly save: (change: SavedUpstreamSession) => void;
}

/** What of a session outlives memory; plain data, and of a bounded size. */
export interface SavedUpstreamSession {
  readonly connection?: SavedConnection;
  /** How the server introduced itself. */
  readonly introduced?: Introduced;
  /** A tool was called. */
  readonly isCalled?: boolean;
}

/** One request, and what it hears. */
export interface SessionRequest {
  readonly call: Call;
  readonly logLevel?: LogLevel;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}
