/** The findings of the login doctor, and the steps on which it bases them. */

import type { Limits } from "../../policy/limits.ts";
import type { TracedStep } from "../trace/trace.ts";

export interface Diagnosis {
  /** `open`: the attempt may still continue. */
  readonly outcome: "succeeded" | "failed" | "open";
  readonly sentence: string;
}

/** The data that a judge has beside the step that it judges. */
export interface EarlierSteps {
  /** Every step up to and including this one, in order of time. */
  readonly steps: readonly TracedStep[];
  /** Milliseconds since the step. */
  readonly age: number;
  readonly limits: Pick<Limits, "attemptMinutes" | "codeSeconds">;
}
