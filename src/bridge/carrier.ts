/** Whose requests cross to servers of the older era, and what carries them. */

import type { Bridges } from "./modern-to-legacy/bridge.ts";

export interface Carrier {
  readonly bridges: Bridges;
  readonly principal: string;
  /** Keeps the Worker running for what outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}
