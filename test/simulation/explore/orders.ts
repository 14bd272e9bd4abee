/**
 * Orders in which lanes go on. What is rare when every lane is as likely as any other, since it takes one lane
 * that stands still while another does a dozen steps, is usual in these.
 */

import type { Random } from "../platform/random.ts";
import { type Choose, type Lag, type Step, uniformly } from "../platform/scheduler.ts";

export type Order =
  /** Each lane has a priority, and the highest goes on; one step in so many, it becomes the lowest. */
  | { readonly kind: "priorities"; readonly changes: number }
  /** What has this in its name seldom goes on while something else can. */
  | { readonly kind: "late"; readonly what: string }
  /** What has any of these in its name takes up to so many milliseconds longer. */
  | { readonly kind: "slow"; readonly what: readonly string[]; readonly ms: number };

const LATE = [
  " back", // one end of a connection learns late that the other has gone
  "disk of",
  "storage of",
  ".detach",
  "GET /mcp",
  "(answer)",
  "(request body)",
  "returns",
  "receive",
  "socket",
  "timer",
  "client",
  "Worker",
  "SessionObject",
] as const;
const LATE_CHANCE = 0.05;

/** Timers and alarms are not among them, since they are on time. */
const SLOW = [
  " back",
  "disk of",
  ".detach",
  ".receive",
  "returns",
  "socket",
  "(answer)",
  "GET /mcp",
] as const;

export function orderOf(random: Random): Order | undefined {
  switch (random.below(6)) {
    case 0:
      return undefined;
    case 1:
      return { kind: "priorities", changes: random.pick([5, 20, 100]) };
    case 2:
    case 3: {
      const what = ["disk of", random.pick(SLOW), random.pick(SLOW)].slice(random.below(2));
      return { kind: "slow", what, ms: random.pick([10, 30, 100]) };
    }
    default:
      return { kind: "late", what: random.pick(LATE) };
  }
}

/** @param order without one, every lane is as likely. */
export function chooseBy(order: Order | undefined, random: Random): Choose {
  switch (order?.kind) {
    case undefined:
    case "slow":
      return uniformly(random);
    case "priorities":
      return byPriority(order.changes, random);
    case "late":
      return late(order.what, random);
  }
}

/** The platform's own time for each step, where nothing is slow. */
export function lagBy(order: Order | undefined, random: Random): Lag | undefined {
  if (order?.kind !== "slow") return undefined;
  const { what, ms } = order;
  return (lane, label) => {
    const name = `${lane} ${label}`;
    return what.some((part) => name.includes(part)) ? random.below(ms + 1) : 0;
  };
}

function byPriority(changes: number, random: Random): Choose {
  const priorities = new Map<string, number>();
  let lowest = 0;
  const priorityOf = ({ lane }: Step): number => {
    let priority = priorities.get(lane);
    if (priority === undefined) priorities.set(lane, (priority = random.fraction()));
    return priority;
  };
  return (due) => {
    let highest = 0;
    for (const [index, step] of due.entries()) {
      const best = due[highest];
      if (best !== undefined && priorityOf(step) > priorityOf(best)) highest = index;
    }
    const step = due[highest];
    if (step !== undefined && random.chance(1 / changes)) priorities.set(step.lane, (lowest -= 1));
    return highest;
  };
}

function late(what: string, random: Random): Choose {
  return (due) => {
    const others = due.filter(({ lane, label }) => !`${lane} ${label}`.includes(what));
    if (others.length === 0 || random.chance(LATE_CHANCE)) return random.below(due.length);
    return due.indexOf(random.pick(others));
  };
}
