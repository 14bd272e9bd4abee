/** What a session keeps of a server over the loss of its holder's memory, in either era. */

import type { SavedConnection } from "./saved-connection.ts";

/** Of a modern server there is no session to keep. */
export interface SavedModern {
  readonly era: "modern";
  /** What the client has told this server to log. */
  readonly logLevel?: string;
}

export type SavedServer = SavedConnection | SavedModern;

export function isSavedModern(saved: SavedServer): saved is SavedModern {
  return "era" in saved;
}
