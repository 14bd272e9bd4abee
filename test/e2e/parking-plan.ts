/**
 * The moments at which something is taken down while calls wait for their clients: drawn from a seed,
 * so that each is another one and every one comes again.
 */

import type { Questioning } from "../support/asking-call.ts";
import type { Seeded } from "../support/seeded.ts";

type Phase =
  /** The call runs, and nothing has been asked. */
  | "before the first question"
  /** The client has been asked, and decides. */
  | "parked"
  /** The client has answered, the server has the answer, and nothing has come of it yet. */
  | "answered"
  /** Whatever comes: the client answers as fast as it can. */
  | "at any time";

export interface Plan {
  readonly phase: Phase;
  readonly upstream: "resumable" | "forgetful";
  readonly script: Questioning;
  /** After how many answers the moment has come. */
  readonly answers: number;
  /** When the server goes on, if it has stopped. */
  readonly goesOn: "while it is down" | "once it is back";
}

const ROLES = [
  ["before the first question", "resumable"],
  ["before the first question", "forgetful"],
  ["parked", "resumable"],
  ["parked", "resumable"],
  ["parked", "forgetful"],
  ["answered", "resumable"],
  ["answered", "resumable"],
  ["answered", "forgetful"],
  ["at any time", "resumable"],
  ["at any time", "forgetful"],
] as const satisfies readonly (readonly [Phase, Plan["upstream"]])[];

/** @param name makes the names of the calls its own. */
export function plansOf(name: string, dice: Seeded): readonly Plan[] {
  return ROLES.map(([phase, upstream], index) => planOf(phase, upstream, `${name}-${index}`, dice));
}

function planOf(phase: Phase, upstream: Plan["upstream"], call: string, dice: Seeded): Plan {
  const { int, pick } = dice;
  const isFlowing = phase === "at any time";
  const questions = isFlowing ? int(20, 40) : int(1, 4);
  const answers = {
    "before the first question": 0,
    parked: int(0, questions - 1),
    answered: int(1, questions),
    "at any time": 0,
  }[phase];
  const stops = phase === "before the first question" || phase === "answered";
  return {
    ...{ phase, upstream, answers },
    script: { call, questions, ...(stops ? { stopAfter: answers } : {}) },
    goesOn: pick(["while it is down", "once it is back"]),
  };
}
