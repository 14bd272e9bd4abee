/** An attempt that cannot go on, and why. */

import type { AuthContext } from "../context.ts";
import type { AttemptRefusal } from "../doctor/trace.ts";
import { problem, type Problem, type ProblemKind } from "./ending.ts";

const PROBLEMS: Readonly<Record<AttemptRefusal, ProblemKind>> = {
  expired: "attempt-gone",
  used: "attempt-gone",
  "other-browser": "attempt-gone",
  "foreign-origin": "foreign-form",
  malformed: "no-form",
};

export function gone({ trace }: Pick<AuthContext, "trace">, reason: AttemptRefusal): Problem {
  return problem(PROBLEMS[reason], { reference: trace({ kind: "attempt_refused", reason }) });
}
