/**
 * How large a plan is. Nearly every fault needs two or three calls of one client at one server, so most plans are
 * of that size, and play in less time; what takes more has every eighth plan.
 */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

const LARGE_CHANCE = 1 / 8;

export function sized(plan: Plan, random: Random): Plan {
  if (random.chance(LARGE_CHANCE)) return plan;
  const servers = plan.servers.slice(0, random.pick([1, 1, 1, 2])).map((server) => ({
    ...server,
    ...(server.changes === undefined
      ? {}
      : { changes: Math.min(server.changes, random.pick([1, 2, 4])) }),
  }));
  const clients = plan.clients.slice(0, random.pick([1, 1, 1, 2])).map((client) => ({
    ...client,
    server: client.server % servers.length,
    calls: Math.min(client.calls, random.pick([1, 1, 2])),
    events: Math.min(client.events, random.pick([1, 2, 4])),
  }));
  const faults = plan.faults.slice(0, random.pick([2, 3, 4])).map((fault) => ({
    ...fault,
    // Later, there is nothing left to break.
    count: 1 + (fault.count % 12),
    times: Math.min(fault.times, random.pick([1, 2, 4])),
  }));
  return { ...plan, servers, clients, faults };
}
