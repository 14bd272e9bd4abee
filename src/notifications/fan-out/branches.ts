/**
 * Which branch of the fan-out carries the news to a subscriber. Their number is fixed, so nobody has
 * to be asked; it cannot change without moving every subscription.
 */

import { fnv1a64 } from "../../lib/fnv1a.ts";

/** As many objects tell of one update at the same time; a server with one listener wakes one. */
export const BRANCHES = 32;

/** @returns 0 to `BRANCHES` - 1. */
export function branchOf(subscriber: string): number {
  return Number(fnv1a64(subscriber) % BigInt(BRANCHES));
}

/** The name of its object. */
export function branchName(branch: number): string {
  return `branch ${branch}`;
}
