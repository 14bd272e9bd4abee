/** The kinds of faults, and how a seed chooses some that happen in its plan. */

import type { Random } from "../platform/random.ts";

export const FAULTS = [
  "cut-client", // a client's connection breaks
  "cut-inside", // a connection of the gateway to a server, or between its parts, breaks
  "crash", // an object loses its memory, with what was not confirmed
  "sleep", // an object that has nothing to do is evicted
  "isolate", // a machine dies, with its Workers and objects
  "server", // a server's process is restarted
  "clock", // the clock of a machine jumps
] as const;

export type FaultKind = (typeof FAULTS)[number];

/** How far a machine's clock jumps, in milliseconds. */
export const JUMPS = [-3_600_000, -5000, -40, 40, 5000, 600_000] as const;

/** The fault happens right after the so-many-th step of such a label. */
export interface PlannedFault {
  readonly kind: FaultKind;
  /** What the label has in it: several parts with `…` between them. */
  readonly moment: string;
  readonly count: number;
  /** Steps after that. */
  readonly later: number;
  /** How often it happens, each time after as many such steps. */
  readonly times: number;
  /** Hits something whose name has this in it, if there is any. */
  readonly where?: string;
}

/** Clocks jump in plans of their own. */
const WITHOUT_CLOCKS = FAULTS.filter((kind) => kind !== "clock");

/** @param chance of each kind. */
export function someKinds(random: Random, chance: number): readonly FaultKind[] {
  return WITHOUT_CLOCKS.filter(() => random.chance(chance));
}

export interface FaultChoices {
  readonly kinds: readonly FaultKind[];
  /** How many faults; without kinds, there are none. */
  readonly count: number;
  readonly moments: readonly string[];
  /** A fault waits for so many steps of its moment at most: chosen for each. */
  readonly steps: () => number;
  readonly times: readonly number[];
  /** Without these, a fault hits anything of its kind. */
  readonly places?: readonly string[];
}

export function someFaults(random: Random, choices: FaultChoices): readonly PlannedFault[] {
  const { kinds, count, moments, steps, times, places } = choices;
  return Array.from({ length: count }, () => ({
    kind: random.pick(kinds),
    moment: random.pick(moments),
    count: 1 + random.below(steps()),
    later: random.below(4),
    times: random.pick(times),
    ...(places !== undefined && { where: random.pick(places) }),
  }));
}
