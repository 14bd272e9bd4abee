/** What the login doctor finds, and what it finds it by. */

import type { Limits } from "../../policy/limits.ts";
import type { TracedStep } from "../trace/trace.ts";

export interface Diagnosis {
  /** `open`: it may still go on. */
  readonly outcome: "succeeded" | "failed" | "open";
  readonly sentence: string;
}

/** What a judge sees beside the step that it judges. */
export interface EarlierSteps {
  /** Every step up to this one and with it, by time. */
  readonly steps: readonly TracedStep[];
  /** Milliseconds since the step. */
  readonly age: number;
  readonly limits: Pick<Limits, "attemptMinutes" | "codeSeconds">;
}
