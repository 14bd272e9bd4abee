/** Whose requests cross to servers of the older era, and what carries them. */

import type { Bridges } from "./bridge.ts";

export interface BridgeScope {
  readonly bridges: Bridges;
  readonly principal: string;
  /** Keeps the Worker running for what outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}
