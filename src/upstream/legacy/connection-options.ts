/** What a connection to a legacy server is made of, and what its maker wants to be told. */

import type { Peer } from "../../protocol/exchange.ts";
import type { UpstreamTarget } from "../target.ts";
import type { LegacyClient } from "./handshake.ts";
import type { SavedConnection } from "./saved-connection.ts";

export interface ConnectionOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  /** Takes what belongs to no request. */
  readonly unsolicited: Peer;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedConnection) => void;
  /** Called when a new session has taken the place of a forgotten one. */
  readonly onReopened?: () => void;
  readonly saved?: SavedConnection | undefined;
  /**
   * What the client wants to have logged by every server: told to this one, if it logs, whenever a
   * session is opened. Without it, what the client has told this one is told again.
   */
  readonly logLevel?: () => string | undefined;
  /**
   * What every session is subscribed to when it is opened: kept by whoever says so. Without it,
   * what the client has subscribed to is kept here, and subscribed again.
   */
  readonly subscriptions?: () => readonly string[];
  /**
   * What belongs to no request is taken to belong to the one that runs, if only one does: for a
   * client that hears nothing else.
   */
  readonly isAttributed?: boolean;
  /** How many of the server's questions may be open at once. */
  readonly maxOpenAsks?: number;
  /** Called when the server turns out to have no stream for what belongs to no request. */
  readonly onRefused?: () => void;
}
