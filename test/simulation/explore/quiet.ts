/** Of plans in which nothing changes, and nobody subscribes. */

import type { SubscribeHabits } from "../outside/subscriber.ts";
import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

type Client = Plan["clients"][number];
type Server = Plan["servers"][number];

/** A server with which nothing is lost: it keeps its sessions and streams. */
export const KEEPING = {
  era: "legacy",
  hasSessions: true,
  hasEventIds: true,
  primes: true,
  repeats: false,
} as const;

/** @param change what is different about the client. */
export function quietClient(
  client: Client,
  change: Pick<Client, "server" | "numbers" | "person"> & { readonly restMs: number },
): Client {
  switch (client.era) {
    case "sse":
      return { ...client, ...change };
    case "modern":
      return { ...withoutSubscription(client), ...change };
    case "legacy":
      return { ...withoutSubscription(client), ...change };
  }
}

/** @returns the same client with subscriptions, if its revision has any here. */
export function subscribing(client: Client, random: Random): Client {
  if (client.era === "sse") return client;
  const habits = { subscribes: random.below(3), wavers: random.chance(0.4) };
  return client.era === "modern" ? { ...client, ...habits } : { ...client, ...habits };
}

export function quietServer(server: Server): Server {
  return server.era === "modern" ? { ...server, changes: 0 } : { ...server, changes: 0 };
}

function withoutSubscription<T extends SubscribeHabits>({ subscribes: _none, ...client }: T) {
  return client;
}
