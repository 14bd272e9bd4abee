/** The options of a connection to a legacy server, and the callbacks that it reports to. */

import type { Peer } from "../../protocol/exchange.ts";
import type { UpstreamTarget } from "../target.ts";
import type { LegacyClient } from "./handshake.ts";
import type { SavedConnection } from "./saved-connection.ts";

export interface ConnectionOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  /** Receives the messages that belong to no request. */
  readonly unsolicited: Peer;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedConnection) => void;
  /** Called when a new session has replaced a forgotten one. */
  readonly onReopened?: () => void;
  readonly saved?: SavedConnection | undefined;
  /**
   * The log level that the client has set for every server. It is sent to this one, if it logs,
   * whenever a session is opened. Without it, the level that the client set at this one is sent again.
   */
  readonly logLevel?: () => string | undefined;
  /**
   * The resources that every session is subscribed to when it is opened, kept by the caller. Without
   * it, the connection keeps the client's own subscriptions and makes them again.
   */
  readonly subscriptions?: () => readonly string[];
  /**
   * Attributes a message that belongs to no request to the only running request, if there is exactly
   * one: for a client that receives no other messages.
   */
  readonly isAttributed?: boolean;
  /** The largest number of the server's requests that may be open at once. */
  readonly maxOpenAsks?: number;
  /** Called when the server turns out not to offer the standalone GET stream. */
  readonly onRefused?: () => void;
}
