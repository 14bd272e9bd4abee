/** Plans in which the limits of what a session keeps are small, so that calls, streams and events outgrow them. */

import type { Quotas } from "../outside/quotas.ts";
import type { Random } from "../platform/random.ts";
import { SAME } from "./moments.ts";
import type { Plan } from "./plan.ts";

/** Of plans that have a client of the session era, and neither accounts, nor published servers, nor an operator. */
const CHANCE = 0.05;

const SMALL: readonly ((random: Random) => Quotas)[] = [
  (random) => ({ keptEventsPerStream: random.pick([10, 12, 20]) }),
  (random) => ({ keptBytesPerStream: random.pick([1024, 2000, 5000]) }),
  (random) => ({ keptBytesPerSession: random.pick([2000, 5000, 12_000]) }),
  (random) => ({ keptStreamsPerSession: random.pick([1, 1, 2, 3]) }),
  () => ({ retentionMinutes: 1 }),
];

export function withSmallQuotas(plan: Plan, random: Random): Plan {
  const { clients, vendor, laptops, operator } = plan;
  const hasSessions = clients.some(({ era }) => era !== "modern");
  const hasOthers = vendor !== undefined || laptops !== undefined || operator !== undefined;
  if (!hasSessions || hasOthers) return plan;
  if (!random.chance(CHANCE)) return plan;
  const first = random.pick(SMALL)(random);
  const limits = random.chance(0.7) ? { ...random.pick(SMALL)(random), ...first } : first;
  const isLate = limits.retentionMinutes !== undefined && random.chance(0.5);
  // An object whose clock is behind its alarm's by more than that wakes at once, until its own time has come.
  const mayJump = limits.retentionMinutes === undefined;
  return {
    ...plan,
    limits,
    clients: clients.map((client) => ({
      ...client,
      calls: 3 + random.below(4),
      events: random.pick([2, 8, 16, 24]),
      isHasty: random.chance(0.6),
      ...(client.era === "legacy" && {
        text: random.pick([0, 0, 100, 600]),
        reconnectMs: isLate ? 150_000 : random.pick([9, 1000, 5000]),
      }),
    })),
    // Who takes up no stream misses nothing.
    faults: [
      ...plan.faults.filter(({ kind }) => mayJump || kind !== "clock"),
      {
        kind: "cut-client",
        moment: "client…a chunk arrives",
        count: 1 + random.below(12),
        later: random.below(2),
        times: random.pick([1, 2, 8]),
        where: SAME,
      },
    ],
  };
}
