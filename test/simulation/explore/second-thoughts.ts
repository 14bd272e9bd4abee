/** Plans in which clients think again: they cancel a call that runs, or open a standalone stream beside the one they have. */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

export function withSecondThoughts(plan: Plan, random: Random): Plan {
  if (random.chance(0.85)) return plan;
  const [cancels, listensTwice] = random.pick([
    [true, false],
    [false, true],
    [true, true],
  ] as const);
  const servers = plan.servers.map((server) =>
    server.era === "legacy" ? { ...server, asksBeside: true } : server,
  );
  const clients = plan.clients.map((client) =>
    client.era === "legacy" ? { ...client, cancels, listensTwice } : client,
  );
  return { ...plan, servers, clients };
}
