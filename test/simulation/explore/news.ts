/**
 * Plans in which a change is on its way when something that carries it dies: a feed that is asked to listen, and
 * a branch of the fan-out between a server's change and those who hear of it.
 */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";
import { KEEPING } from "./quiet.ts";

/** What dies, and when. */
const DEATHS = [
  // Before the feed has written down who wants what.
  { where: "FeedObject", moment: "FanOutObject…FeedObject…watch…arrives" },
  // What the feed publishes next arrives at a life without listeners.
  { where: "FanOutObject", moment: "FeedObject…GET /mcp…a chunk arrives" },
  { where: "FanOutObject", moment: "FeedObject…GET /mcp…a chunk arrives" },
  { where: "FanOutObject", moment: "FeedObject…GET /mcp…a chunk arrives" },
  { where: "FanOutObject", moment: "FeedObject…POST /mcp…a chunk arrives" },
  { where: "FanOutObject", moment: "FeedObject…writes are confirmed" },
  { where: "FanOutObject", moment: "FeedObject…FanOutObject…publish…arrives" },
] as const;

/** The session has the news, and the branch has not noted it. */
const DEATHS_AFTER = [
  { where: "FanOutObject", moment: "FanOutObject…SessionObject…deliver…arrives" },
  { where: "FanOutObject", moment: "FanOutObject…SessionObject…deliver…returns" },
] as const;

export function withNews(plan: Plan, random: Random): Plan {
  const changes = { changes: 1 + random.below(3), changeMs: random.pick([50, 1500]) };
  const [first] = plan.servers;
  const server: Plan["servers"][number] =
    first?.era === "modern"
      ? { ...first, ...changes, asks: false }
      : {
          ...KEEPING,
          ...{ letsPoll: false, asks: false, pauseMs: 0, ...changes },
        };
  const isModern = random.chance(0.5);
  const usual = {
    // A session without a call hears of a resource on one way.
    ...{ server: 0, calls: isModern ? 1 : 0, events: 0, isHasty: false },
    reconnectMs: random.pick([0, 9]),
  };
  const client: Plan["clients"][number] = isModern
    ? { ...usual, era: "modern", subscribes: random.below(2) }
    : {
        ...{ ...usual, era: "legacy", revision: "2025-11-25", subscribes: 1 + random.below(2) },
        ...{ listens: true, restMs: 0, deletes: false },
      };
  const faults = Array.from({ length: random.pick([1, 1, 2]) }, () => ({
    kind: "crash" as const,
    ...random.pick(isModern ? DEATHS : [...DEATHS, ...DEATHS_AFTER, ...DEATHS_AFTER]),
    count: 1 + random.below(random.pick([1, 2, 6])),
    later: random.below(random.pick([1, 4])),
    times: random.pick([1, 1, 4]),
  }));
  const delayMs = random.pick([0, 30, 400]);
  return { seed: plan.seed, servers: [server], clients: [client], faults, delayMs };
}
