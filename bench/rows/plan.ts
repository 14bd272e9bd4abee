/** What a row is, and how all of them are measured. */

import type { RowName } from "../row-names.ts";
import type { Result } from "../row.ts";
import type { Pace } from "../turns.ts";

export interface Row {
  readonly name: RowName;
  /** @throws Error when anything of it could not be measured. */
  readonly measure: (plan: Plan) => Promise<readonly Result[]>;
}

export interface Plan extends Pace {
  /** How long one participant is under load in one round. */
  readonly seconds: number;
  /** What is being measured, for whoever waits. */
  readonly say: (what: string) => void;
}
