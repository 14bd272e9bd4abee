/** What a seed stands for: who takes part, with which habits, and which kinds of faults happen. */

import type { LegacyClientHabits } from "../outside/legacy-client.ts";
import type { LegacyServerHabits } from "../outside/legacy-server.ts";
import type { ModernClientHabits } from "../outside/modern-client.ts";
import type { ModernServerHabits } from "../outside/modern-server.ts";
import type { SseClientHabits } from "../outside/sse-client.ts";
import type { AccountHabits } from "../outside/account-holder.ts";
import type { LaptopHabits } from "../outside/laptop.ts";
import type { PublisherHabits } from "../outside/publisher.ts";
import type { Login } from "../outside/guarded.ts";
import type { OperatorHabits } from "../outside/operator.ts";
import type { VendorHabits } from "../outside/vendor.ts";
import { Random } from "../platform/random.ts";
import type { IntruderHabits } from "../outside/intruder.ts";
import type { Quotas } from "../outside/quotas.ts";
import { type PlannedFault, someFaults, someKinds } from "./faults.ts";
import { withAccounts } from "./guarded.ts";
import { withHandOvers } from "./hand-overs.ts";
import { narrowed } from "./narrowed.ts";
import { withOperator } from "./operated.ts";
import { type Order, orderOf } from "./orders.ts";
import { withSecondThoughts } from "./second-thoughts.ts";
import { sized } from "./sizes.ts";
import { withSmallQuotas } from "./small-quotas.ts";
import { withPeople } from "./people.ts";
import { withPublished } from "./published.ts";

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

type ServerHabits = LegacyServerHabits | ModernServerHabits;
type ClientHabits = LegacyClientHabits | ModernClientHabits | SseClientHabits;

export interface Plan {
  readonly seed: number;
  readonly servers: readonly ServerHabits[];
  /** A client of a person signs in. */
  readonly clients: readonly (ClientHabits & {
    readonly server: number;
    readonly person?: number;
    /** It uses the endpoint of what its person publishes, and no other. */
    readonly isAlone?: boolean;
  })[];
  readonly intruders?: readonly IntruderHabits[];
  readonly faults: readonly PlannedFault[];
  /** The longest delay of a message, in milliseconds. */
  readonly delayMs: number;
  /** Where people's accounts are. */
  readonly vendor?: VendorHabits;
  readonly holders?: readonly AccountHabits[];
  /** The servers demand the holders' accounts; without it, holders ask their vaults themselves. */
  readonly login?: Login;
  /** Clients then call what their people publish. */
  readonly laptops?: readonly LaptopHabits[];
  /** The people pause what they publish. */
  readonly publishers?: readonly PublisherHabits[];
  /** Changes one of the servers meanwhile. */
  readonly operator?: OperatorHabits;
  /** Without one, every lane that can go on is as likely. */
  readonly order?: Order;
  /** Of what a session keeps, where they are not as usual. */
  readonly limits?: Quotas;
  /** When everybody has gone, time goes on until every limit has passed. */
  readonly isFollowed?: boolean;
}

/** Moments of a refresh, and what it may hit. */
const VAULT_MOMENTS = ["POST /token", "credential", "writes are confirmed"] as const;
const VAULT_PLACES = ["VaultObject", "POST /token", "isolate"] as const;

/** People with accounts, and no clients. */
function accountsPlanOf(seed: number): Plan {
  const random = new Random(seed * 8111 + 29);
  const kinds = (["cut-inside", "crash", "sleep", "isolate", "server"] as const).filter(() =>
    random.chance(0.5),
  );
  const count = kinds.length === 0 ? 0 : 1 + random.below(6);
  return {
    ...{ seed, servers: [], clients: [] },
    vendor: {
      rotation: random.pick(["strict", "strict", "grace", "grace", "none"]),
      lifeMs: random.pick([20_000, 60_000, 120_000]),
      pauseMs: random.pick([0, 50, 3000]),
      isBusy: random.chance(0.3),
    },
    holders: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({
      useMs: random.pick([60_000, 150_000, 150_000, 500_000]),
      // Between two refreshes, nothing happens but the same again.
      pauseMs: random.pick([8000, 20_000, 40_000, 90_000]),
      atOnce: 1 + random.below(3),
    })),
    faults: someFaults(random, {
      ...{ kinds, count, moments: VAULT_MOMENTS, places: VAULT_PLACES, times: [1, 3, 8] },
      steps: () => 30,
    }),
    delayMs: random.pick([0, 30, 400]),
  };
}

export function planOf(seed: number): Plan {
  const limited = withSmallQuotas(mixedPlanOf(seed), new Random(seed * 9341 + 37));
  const lying = withLies(limited, new Random(seed * 4729 + 43));
  const plan = withSecondThoughts(lying, new Random(seed * 5167 + 53));
  // A vault keeps what its people have connected.
  const isFollowed = plan.vendor === undefined && new Random(seed * 8693 + 31).chance(0.03);
  return isFollowed ? { ...plan, isFollowed } : plan;
}

function mixedPlanOf(seed: number): Plan {
  const random = new Random(seed * 7433 + 19);
  const plan = planOfKind(seed);
  if (plan.clients.length === 0) return plan;
  if (random.chance(0.1)) return withPeople(plan, random);
  if (random.chance(0.06)) return withAccounts(plan, random);
  if (random.chance(0.08)) return withPublished(plan, random);
  if (random.chance(0.06)) return withOperator(plan, random);
  return narrowed(plan, new Random(seed * 6737 + 41));
}

function planOfKind(seed: number): Plan {
  if (new Random(seed * 2903 + 5).chance(0.1)) return accountsPlanOf(seed);
  const random = new Random(seed * 104_729 + 5);
  const plan = sized(mixtureOf(seed), new Random(seed * 5741 + 13));
  const order = orderOf(random);
  const ordered = order === undefined ? plan : { ...plan, order };
  return random.chance(0.5) ? withHandOvers(ordered, random) : ordered;
}

/** In some plans, servers send what no honest one does. Where limits are small, the model would have to count it. */
function withLies(plan: Plan, random: Random): Plan {
  if (random.chance(0.92) || plan.limits !== undefined) return plan;
  const servers = plan.servers.map((server) => ({ ...server, lies: true }));
  const { laptops } = plan;
  if (laptops === undefined) return { ...plan, servers };
  return { ...plan, servers, laptops: laptops.map((laptop) => ({ ...laptop, lies: true })) };
}

/** A mixture of everything. */
function mixtureOf(seed: number): Plan {
  const random = new Random(seed * 7919 + 17);
  const kinds = someKinds(random, 0.5);
  const servers = Array.from({ length: 1 + random.below(2) }, () => serverOf(random));
  const clients = Array.from({ length: 1 + random.below(3) }, () => ({
    ...clientOf(random),
    server: random.below(servers.length),
  }));
  const count = kinds.length === 0 ? 0 : 1 + random.below(8);
  const faults = someFaults(random, {
    ...{ kinds, count, moments: MOMENTS, times: [1, 1, 2, 8] },
    steps: () => random.pick([3, 12, 60]),
  });
  const delayMs = random.pick([0, 2, 30, 400]);
  const plan = { seed, servers, clients, faults, delayMs };
  const changing = withChanges(plan, new Random(seed * 6029 + 3));
  const mixed = withSse(changing, new Random(seed * 4993 + 11));
  return withJumps(mixed, new Random(seed * 3571 + 7));
}

/** In some plans, clocks jump. */
function withJumps(plan: Plan, random: Random): Plan {
  if (random.chance(0.8)) return plan;
  const jump = {
    kind: "clock",
    moment: random.pick(MOMENTS),
    count: 1 + random.below(40),
  } as const;
  return {
    ...plan,
    faults: [...plan.faults, { ...jump, later: 0, times: random.pick([1, 2, 8]) }],
  };
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
