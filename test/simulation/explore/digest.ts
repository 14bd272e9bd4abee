/** What many schedules come to, in one number: of two versions that have the same, each behaves like the other there. */

import { createHash } from "node:crypto";

import type { Program } from "../platform/isolate.ts";
import { planOf } from "./plan.ts";
import { play } from "./play.ts";

/** @returns a hash of every step of the schedules, with its time and its text, in hex. */
export async function digestOf(program: Program, from: number, count: number): Promise<string> {
  const hash = createHash("sha256");
  const trace = (text: string, at: number): void => void hash.update(`${at} ${text}\n`);
  const { stackTraceLimit } = Error;
  // The log has the stacks of errors, which name lines of the code.
  Error.stackTraceLimit = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    await play(planOf(seed), program, { trace });
  }
  Error.stackTraceLimit = stackTraceLimit;
  return hash.digest("hex");
}
