/** Plans in which people publish servers of their own machines, both under the same name. */

import type { Random } from "../platform/random.ts";
import { someFaults, someKinds } from "./faults.ts";
import { twoOf } from "./people.ts";
import type { Plan } from "./plan.ts";
import { quietClient, quietServer, subscribing } from "./quiet.ts";

const MOMENTS = [
  "a message arrives",
  "answered 101",
  "POST /p",
  "receive",
  "writes are confirmed",
  "run",
  ".publish",
  ".deliver",
  ".watch",
] as const;
const PLACES = [
  "ConnectorObject",
  "laptop",
  "SessionObject",
  "BridgeObject",
  "FeedObject",
  "FanOutObject",
  "isolate",
] as const;

/** @param plan a mixture, whose clients call what their own people publish. */
export function withPublished(plan: Plan, random: Random): Plan {
  const isChanging = random.chance(0.4);
  const clients = twoOf(plan).map((client, index) => {
    const change = {
      ...{ server: 0, numbers: true, person: index % 2 },
      restMs: random.pick([0, 2000, 20_000]),
    };
    const quiet = quietClient(client, change);
    const at = random.chance(0.3) && client.era !== "sse" ? { isAlone: true } : {};
    return { ...(isChanging ? subscribing(quiet, random) : quiet), ...at };
  });
  const changesOf = () =>
    isChanging
      ? {
          changes: 1 + random.below(6),
          changeMs: random.pick([1500, 20_000]),
          // An isolate that does not know yet that a person publishes may take half a minute.
          quietMs: 90_000,
        }
      : {};
  const changes = [changesOf(), changesOf()];
  const laptopOf = (person: number, startMs: number) => ({
    ...{ person, startMs },
    era: random.pick(["legacy", "modern"] as const),
    pauseMs: random.pick([0, 20, 800]),
    asks: random.chance(0.4),
    ...changes[person],
  });
  // A second one of a person takes the name from the first.
  const second = random.chance(0.3) ? [laptopOf(0, random.pick([2000, 33_000, 40_000]))] : [];
  const publishers = [0, 1]
    .filter(() => random.chance(0.25))
    .map((person) => ({
      ...{ person, pauses: 1 + random.below(3), restMs: random.pick([5000, 60_000, 100_000]) },
      awayMs: random.pick([50, 3000, 40_000]),
    }));
  const kinds = someKinds(random, 0.4);
  const count = kinds.length === 0 ? 0 : 1 + random.below(6);
  return {
    ...plan,
    ...{ clients, servers: plan.servers.slice(0, 1).map((server) => quietServer(server)) },
    ...(publishers.length > 0 && { publishers }),
    laptops: [laptopOf(0, 0), laptopOf(1, random.pick([0, 5000])), ...second],
    faults: someFaults(random, {
      ...{ kinds, count, moments: MOMENTS, places: PLACES, times: [1, 2, 5] },
      steps: () => random.pick([5, 40]),
    }),
  };
}
