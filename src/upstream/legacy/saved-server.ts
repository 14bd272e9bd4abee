/** The state of a server, of either era, that a session keeps when its holder loses its memory. */

import type { SavedConnection } from "./saved-connection.ts";

/** A modern server has no session to keep. */
export interface SavedModern {
  readonly era: "modern";
  /** The log level that the client has set at this server. */
  readonly logLevel?: string;
}

export type SavedServer = SavedConnection | SavedModern;

export function isSavedModern(saved: SavedServer): saved is SavedModern {
  return "era" in saved;
}
