/**
 * Plans in which streams pass from one reader to the next again and again: a client whose connection breaks is
 * back before the gateway has noticed.
 */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

const MOMENTS = [
  "a chunk arrives",
  "answered 200",
  "answered 101",
  "GET /mcp",
  "receive",
  "writes are confirmed",
  "found cut",
] as const;

export function withHandOvers(plan: Plan, random: Random): Plan {
  const clients = plan.clients.map((client) => ({
    ...client,
    reconnectMs: random.pick([0, 0, 9]),
    events: 10,
    ...(client.era === "legacy" ? { listens: random.chance(0.7) } : {}),
  }));
  const servers = plan.servers.map((server) => ({
    ...server,
    pauseMs: random.pick([5, 20, 100]),
  }));
  const cuts = Array.from({ length: 2 + random.below(3) }, () => ({
    kind: "cut-client" as const,
    moment: random.pick(MOMENTS),
    count: 1 + random.below(random.pick([2, 6])),
    later: random.below(8),
    times: random.pick([2, 8, 20]),
  }));
  return { ...plan, clients, servers, faults: [...cuts, ...plan.faults.slice(0, 3)] };
}
