/** Plans in which an operator changes one of two servers while clients use both. */

import type { Random } from "../platform/random.ts";
import { type PlannedFault, someFaults, someKinds } from "./faults.ts";
import type { Plan } from "./plan.ts";
import { subscribing } from "./quiet.ts";

const MOMENTS = [
  // The registry has the change, and nobody knows it yet.
  "putServer",
  "putSwitch",
  "addedServers",
  "configured",
  ".publish",
  ".deliver",
  ".watch",
  "POST /mcp",
  "receive",
  "writes are confirmed",
] as const;
const PLACES = [
  "RegistryObject",
  "SessionObject",
  "BridgeObject",
  "FeedObject",
  "FanOutObject",
  "isolate",
] as const;

/** @param plan a mixture, of which an operator changes one of the first two servers. */
export function withOperator(plan: Plan, random: Random): Plan {
  const isChanging = random.chance(0.6);
  const [first, second = first] = plan.servers;
  if (first === undefined || second === undefined) return plan;
  const servers = [first, second].map((server) => {
    if (!isChanging) return server;
    const habits = { changes: 1 + random.below(6), changeMs: random.pick([1500, 20_000]) };
    return server.era === "modern" ? { ...server, ...habits } : { ...server, ...habits };
  });
  const clients = plan.clients.map((client) => {
    const change = { server: random.below(2), restMs: random.pick([0, 2000, 20_000]) };
    const moved = client.era === "legacy" ? { ...client, ...change } : { ...client, ...change };
    return isChanging ? subscribing(moved, random) : moved;
  });
  const kinds = someKinds(random, 0.4);
  const count = kinds.length === 0 ? 0 : 1 + random.below(5);
  const adds = random.chance(0.5);
  const faults = someFaults(random, {
    ...{ kinds, count, moments: MOMENTS, places: PLACES, times: [1, 1, 2, 5] },
    steps: () => random.pick([5, 20]),
  });
  const operated: Plan = {
    ...plan,
    ...{ servers, clients, faults },
    operator: {
      ...{ server: random.below(2), adds, changes: 1 + random.below(5) },
      pauseMs: random.pick([100, 3000, 20_000]),
      awayMs: random.pick([0, 500, 12_000, 45_000]),
    },
  };
  return adds && random.chance(0.4) ? unasked(operated, random) : operated;
}

/**
 * Machines die, and those that take their place wait for a while to learn what the operator has added. Nobody
 * subscribes: no isolate promises to know of a change in time where the registry does not answer in time.
 */
function unasked(plan: Plan, random: Random): Plan {
  const moment = random.pick(["tools/call", "receive", "writes are confirmed"]);
  const after = { moment, count: 1 + random.below(30), later: random.below(4), times: 1 };
  const deaths = [1, 2, 3].map((): PlannedFault => ({ kind: "isolate", ...after }));
  return {
    ...plan,
    clients: plan.clients.map((client) => {
      if (!("subscribes" in client)) return client;
      const { subscribes: _, ...quiet } = client;
      return quiet;
    }),
    order: { kind: "slow", what: ["addedServers"], ms: 3000 },
    faults: [...plan.faults, ...deaths],
  };
}
