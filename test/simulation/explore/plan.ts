/** What a seed stands for: who takes part, with which habits, and which kinds of faults happen. */

import type { LegacyClientHabits } from "../outside/legacy-client.ts";
import type { LegacyServerHabits } from "../outside/legacy-server.ts";
import type { ModernClientHabits } from "../outside/modern-client.ts";
import type { ModernServerHabits } from "../outside/modern-server.ts";
import type { SseClientHabits } from "../outside/sse-client.ts";
import { Random } from "../platform/random.ts";

export const FAULTS = [
  "cut-client", // a client's connection breaks
  "cut-inside", // a connection of the gateway to a server, or between its parts, breaks
  "crash", // an object loses its memory, with what was not confirmed
  "sleep", // an object that has nothing to do is evicted
  "isolate", // a machine dies, with its Workers and objects
  "server", // a server's process is restarted
] as const;

export type FaultKind = (typeof FAULTS)[number];

/**
 * The moments that faults prefer: where something that arrived is not yet written, or written and not yet
 * sent on, or on its way from one reader of a stream to the next.
 */
const MOMENTS = [
  "writes are confirmed",
  "a chunk arrives",
  "answered 200",
  "answered 101",
  "answered 202",
  "a message arrives",
  "receive",
  "GET /mcp",
  "found broken",
  "storage answers",
  "catalog",
  "run",
] as const;

/** The same for what is on its way from a server that changes to those who subscribe. */
const NEWS_MOMENTS = [
  "server",
  "server",
  ".publish",
  ".deliver",
  ".watch",
  ".subscribe",
  "GET /mcp",
  "writes are confirmed",
] as const;
const NEWS_PLACES = ["FeedObject", "FanOutObject", "SessionObject", "GET /mcp", "socket"] as const;

/** The fault happens right after the so-many-th step of such a label. */
interface PlannedFault {
  readonly kind: FaultKind;
  readonly moment: string;
  readonly count: number;
  /** Steps after that. */
  readonly later: number;
  /** How often it happens, each time after as many such steps. */
  readonly times: number;
  /** Hits something whose name has this in it, if there is any. */
  readonly where?: string;
}

type ServerHabits = LegacyServerHabits | ModernServerHabits;
type ClientHabits = LegacyClientHabits | ModernClientHabits | SseClientHabits;

export interface Plan {
  readonly seed: number;
  readonly servers: readonly ServerHabits[];
  readonly clients: readonly (ClientHabits & { readonly server: number })[];
  readonly faults: readonly PlannedFault[];
  /** The longest delay of a message, in milliseconds. */
  readonly delayMs: number;
}

export function planOf(seed: number): Plan {
  const random = new Random(seed * 7919 + 17);
  const kinds = FAULTS.filter(() => random.chance(0.5));
  const servers = Array.from({ length: 1 + random.below(2) }, () => serverOf(random));
  const clients = Array.from({ length: 1 + random.below(3) }, () => ({
    ...clientOf(random),
    server: random.below(servers.length),
  }));
  const count = kinds.length === 0 ? 0 : 1 + random.below(8);
  const faults = Array.from({ length: count }, () => ({
    kind: random.pick(kinds),
    moment: random.pick(MOMENTS),
    count: 1 + random.below(random.pick([3, 12, 60])),
    later: random.below(4),
    times: random.pick([1, 1, 2, 8]),
  }));
  const delayMs = random.pick([0, 2, 30, 400]);
  const plan = { seed, servers, clients, faults, delayMs };
  return withSse(withChanges(plan, new Random(seed * 6029 + 3)), new Random(seed * 4993 + 11));
}

/** In some plans, servers and clients speak HTTP+SSE of 2024-11-05. */
function withSse(plan: Plan, random: Random): Plan {
  if (random.chance(0.75)) return plan;
  const servers = plan.servers.map((server): ServerHabits => {
    if (server.era === "modern" || random.chance(0.3)) return server;
    const lacks = { hasEventIds: false, primes: false, letsPoll: false, repeats: false };
    return { ...server, ...lacks, hasSessions: true, isSse: true };
  });
  const clients = plan.clients.map((client) => {
    if (random.chance(0.4)) {
      // What a server asks on its one stream reaches such a client on its standalone stream.
      return client.era === "legacy" ? { ...client, listens: true } : client;
    }
    const { calls, events, isHasty, server } = client;
    return { era: "sse", calls, events, isHasty, server, restMs: random.pick([0, 2000]) } as const;
  });
  return { ...plan, servers, clients };
}

/** In half of the plans, something changes at the servers, and clients subscribe to it. */
function withChanges(plan: Plan, random: Random): Plan {
  if (random.chance(0.5)) return plan;
  const servers = plan.servers.map((server) => {
    // Where there is no session, nobody can subscribe in it.
    if (server.era === "legacy" && !server.hasSessions) return server;
    const habits = { changes: 1 + random.below(10), changeMs: random.pick([50, 1500, 10_000]) };
    return server.era === "legacy"
      ? { ...server, ...habits, forgets: random.chance(0.5) }
      : { ...server, ...habits };
  });
  const clients = plan.clients.map((client) =>
    random.chance(0.7)
      ? { ...client, subscribes: random.below(4), wavers: random.chance(0.4) }
      : client,
  );
  const faults = plan.faults.map((fault) =>
    random.chance(0.3)
      ? fault
      : { ...fault, moment: random.pick(NEWS_MOMENTS), where: random.pick(NEWS_PLACES) },
  );
  return { ...plan, servers, clients, faults };
}

function serverOf(random: Random): ServerHabits {
  if (random.chance(0.3)) {
    return { era: "modern", asks: random.chance(0.4), pauseMs: random.pick([0, 20, 800]) };
  }
  const hasEventIds = random.chance(0.75);
  const primes = hasEventIds && random.chance(0.7);
  return {
    era: "legacy",
    hasSessions: random.chance(0.7),
    hasEventIds,
    primes,
    letsPoll: primes && random.chance(0.4),
    asks: random.chance(0.3),
    repeats: random.chance(0.2),
    pauseMs: random.pick([0, 20, 800]),
  };
}

function clientOf(random: Random): ClientHabits {
  const calls = {
    calls: 1 + random.below(3),
    events: random.pick([0, 2, 4, 10]),
    isHasty: random.chance(0.4),
  };
  const reconnectMs = random.pick([0, 9, 1000]);
  if (random.chance(0.4)) return { era: "modern", reconnectMs, ...calls };
  return {
    era: "legacy",
    reconnectMs,
    ...calls,
    revision: random.pick(["2025-03-26", "2025-06-18", "2025-11-25"]),
    listens: random.chance(0.6),
    restMs: random.pick([0, 0, 2000, 40_000]),
    deletes: random.chance(0.3),
  };
}
