/**
 * Plans in which streams pass from one reader to the next again and again: a client whose connection breaks is
 * back before the gateway has noticed.
 */

import type { Random } from "../platform/random.ts";
import { SAME } from "./moments.ts";
import type { Order } from "./orders.ts";
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

/** The end of a reader is noticed late, and what is written is safe late, so that the next reader is there before. */
const LATE_ENDS = [" back", ".detach"] as const;

const ANSWERS = "client…POST /mcp…a chunk arrives";

export function withHandOvers(plan: Plan, random: Random): Plan {
  // Over HTTP+SSE, a server's question does not say of which call it is: it comes on the standalone stream.
  const mustListen = plan.servers.some((server) => server.era === "legacy" && server.isSse);
  const clients = plan.clients.map((client) => ({
    ...client,
    reconnectMs: random.pick([0, 0, 9]),
    events: 10,
    ...(client.era === "legacy" ? { listens: random.chance(0.7) || mustListen } : {}),
  }));
  const servers = plan.servers.map((server) => ({
    ...server,
    pauseMs: random.pick([5, 20, 100]),
  }));
  // The answer of a call breaks while events come, or anything does.
  const cuts = Array.from({ length: 1 + random.below(3) }, () => ({
    kind: "cut-client" as const,
    ...(random.chance(0.6)
      ? { moment: ANSWERS, where: SAME, count: 1 + random.below(6), times: random.pick([1, 2, 8]) }
      : {
          moment: random.pick(MOMENTS),
          count: 1 + random.below(6),
          times: random.pick([2, 8, 20]),
        }),
    later: random.below(8),
  }));
  const slow = {
    kind: "slow",
    what: ["disk of", random.pick(LATE_ENDS)],
    ms: random.pick([10, 30]),
  };
  const order = random.chance(0.6) ? { order: slow as Order } : {};
  const faults = [...cuts, ...plan.faults.slice(0, 3)];
  return { ...plan, clients, servers, faults, delayMs: random.pick([0, 2]), ...order };
}
