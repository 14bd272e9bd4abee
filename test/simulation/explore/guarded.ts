/** Plans in which MCP calls go through people's accounts, or through one that all share. */

import type { Random } from "../platform/random.ts";
import { someFaults, someKinds } from "./faults.ts";
import { twoOf } from "./people.ts";
import type { Plan } from "./plan.ts";
import { quietClient, quietServer, subscribing } from "./quiet.ts";

const MOMENTS = [
  "POST /token",
  "credential",
  "POST /mcp",
  "answered 401",
  // An account was connected, or ended, and nobody knows it yet.
  "finish",
  "disconnect",
  "writes are confirmed",
  ".publish",
  ".deliver",
  ".watch",
] as const;
const PLACES = [
  "VaultObject",
  "POST /token",
  "SessionObject",
  "BridgeObject",
  "FeedObject",
  "FanOutObject",
  "isolate",
] as const;

/** @param plan a mixture, of which the first server demands an account. */
export function withAccounts(plan: Plan, random: Random): Plan {
  const isShared = random.chance(0.3);
  const login = isShared ? ("oauth-shared" as const) : ("oauth" as const);
  const isChanging = random.chance(0.4);
  const servers = plan.servers.slice(0, 1).map((server) => {
    if (!isChanging) return quietServer(server);
    const habits = {
      ...{ changes: 1 + random.below(8), changeMs: random.pick([1500, 20_000, 60_000]) },
      quietMs: 20_000,
    };
    return server.era === "modern" ? { ...server, ...habits } : { ...server, ...habits };
  });
  const clients = twoOf(plan).map((client, index) => {
    const change = {
      ...{ server: 0, numbers: true, person: index % 2 },
      restMs: random.pick([2000, 40_000, 120_000]),
    };
    const quiet = { ...quietClient(client, change), calls: 2 + random.below(5) };
    return isChanging ? subscribing(quiet, random) : quiet;
  });
  const kinds = someKinds(random, 0.4);
  const count = kinds.length === 0 ? 0 : 1 + random.below(5);
  return {
    ...plan,
    ...{ servers, clients, login },
    vendor: {
      // Whoever has lost an account for good hears of nothing.
      rotation: random.pick(isChanging ? ["grace", "none"] : ["strict", "grace", "none"]),
      lifeMs: random.pick([90_000, 180_000]),
      pauseMs: random.pick([0, 50, 3000]),
      isBusy: random.chance(0.2),
      drops: random.chance(0.7),
    },
    holders: Array.from({ length: isShared ? 1 : 2 }, () => ({
      useMs: random.pick([20_000, 400_000]),
      pauseMs: random.pick(isChanging ? [5000, 20_000] : [5000, 20_000, 90_000]),
      atOnce: random.below(4),
      // The gateway lets nobody connect again and again, and until it does, nobody hears of a change.
      ends: isChanging ? random.pick([0, 2, 5, 5]) : random.chance(0.4) ? 100 : 0,
    })),
    faults: someFaults(random, {
      ...{ kinds, count, moments: MOMENTS, places: PLACES, times: [1, 2, 5] },
      steps: () => 20,
    }),
  };
}
