/** The answer for an attempt that cannot go on, with the reason. */

import type { AuthContext } from "../context/context.ts";
import type { AttemptRefusal } from "../trace/trace.ts";
import { problem, type Problem, type ProblemKind } from "./ending.ts";

const PROBLEMS: Readonly<Record<AttemptRefusal, ProblemKind>> = {
  expired: "attempt-gone",
  used: "attempt-gone",
  "other-browser": "attempt-gone",
  "foreign-origin": "foreign-form",
  malformed: "no-form",
};

interface Marks {
  readonly attempt?: string;
  readonly client?: string;
}

/** @param marks of the attempt, as far as it is known which one was meant. */
export function attemptExpired(
  { trace }: Pick<AuthContext, "trace">,
  reason: AttemptRefusal,
  marks: Marks,
): Problem {
  const reference = trace({ kind: "attempt_refused", reason, ...marks });
  return problem(PROBLEMS[reason], { reference });
}
