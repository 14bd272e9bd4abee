/**
 * Plans in which clients of sessions think again: they cancel a call that runs, or open a standalone stream beside the
 * one that they have. Some of their servers ask on that of the session, and not on the stream of the call.
 */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

export function withSecondThoughts(plan: Plan, random: Random): Plan {
  if (random.chance(0.85)) return plan;
  const habits = { cancels: random.chance(0.5), listensTwice: random.chance(0.5) };
  const asksBeside = random.chance(0.4);
  const servers = plan.servers.map((server) =>
    server.era === "legacy" ? { ...server, asksBeside } : server,
  );
  const clients = plan.clients.map((client) =>
    client.era === "legacy" ? { ...client, ...habits } : client,
  );
  return { ...plan, servers, clients };
}
