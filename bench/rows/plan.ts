/** How all rows are measured. */

import type { Pace } from "../turns.ts";

export interface Plan extends Pace {
  /** How long one participant is under load in one round. */
  readonly seconds: number;
  /** What is being measured, for whoever waits. */
  readonly say: (what: string) => void;
}
