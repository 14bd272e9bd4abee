/**
 * Plans in which calls ask, and what holds them dies about the time of the answer: when it was taken and its
 * server does not have it, and when its server has it and the call goes on.
 */

import type { Random } from "../platform/random.ts";
import { KEEPING, quietClient } from "./quiet.ts";
import type { Plan } from "./plan.ts";

/** What dies in the calls of clients with sessions. The first 202 is that of `notifications/initialized`. */
const IN_SESSIONS = [
  // The answer was taken, and is on its way to the server.
  { moment: "client…POST /mcp…answered 202", first: 2, of: 2, later: 3 },
  { moment: "client…POST /mcp…answered 202", first: 2, of: 2, later: 3 },
  // The server has it, and goes on.
  { moment: "SessionObject…POST /mcp…answered 202", first: 2, of: 2, later: 6 },
  { moment: "SessionObject…POST /mcp…a chunk arrives", first: 2, of: 8, later: 6 },
] as const;

/** And in those of clients of 2026-07-28: their next round is under way. */
const IN_BRIDGES = [
  { moment: "BridgeObject…take…a chunk arrives", first: 1, of: 8, later: 6 },
  { moment: "BridgeObject…POST /mcp…a chunk arrives", first: 4, of: 10, later: 6 },
  { moment: "client…POST /mcp…a chunk arrives", first: 1, of: 8, later: 3 },
] as const;

export function withQuestions(plan: Plan, random: Random): Plan {
  const server = {
    ...KEEPING,
    letsPoll: random.chance(0.2),
    asks: random.pick([true, "first"] as const),
    pauseMs: random.pick([20, 100]),
  };
  const clients = plan.clients.slice(0, 1).map((client) => ({
    ...quietClient(client, { server: 0, restMs: 0 }),
    events: random.pick([4, 10]),
    calls: 1 + random.below(2),
  }));
  const isModern = clients.some(({ era }) => era === "modern");
  const faults = Array.from({ length: random.pick([1, 1, 2]) }, () => {
    const { moment, first, of, later } = random.pick<
      (typeof IN_BRIDGES | typeof IN_SESSIONS)[number]
    >(isModern ? IN_BRIDGES : IN_SESSIONS);
    return {
      kind: random.pick(["crash", "crash", "crash", "isolate"] as const),
      ...{ moment, count: first + random.below(of), later: random.below(later) },
      times: 1,
      where: isModern ? "BridgeObject" : "SessionObject",
    };
  });
  const delayMs = random.pick([0, 30, 400]);
  return { seed: plan.seed, servers: [server], clients, faults, delayMs };
}
