/**
 * The assignment of subscribers to the branches of the fan-out. The number of branches is fixed, so the
 * branch follows from the subscriber alone; it cannot change without moving every subscription.
 */

import { fnv1a64 } from "../../lib/fnv1a.ts";

/** Up to this many objects deliver one update in parallel; a server with one listener wakes one. */
export const BRANCHES = 32;

/** @returns 0 to `BRANCHES` - 1. */
export function branchOf(subscriber: string): number {
  return Number(fnv1a64(subscriber) % BigInt(BRANCHES));
}

/** @returns the name of the branch's Durable Object. */
export function branchName(branch: number): string {
  return `branch ${branch}`;
}
