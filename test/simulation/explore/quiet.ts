/** Of plans in which nothing changes, and nobody subscribes. */

import type { SubscribeHabits } from "../outside/subscriber.ts";
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

export function quietServer(server: Server): Server {
  return server.era === "modern" ? { ...server, changes: 0 } : { ...server, changes: 0 };
}

function withoutSubscription<T extends SubscribeHabits>({ subscribes: _none, ...client }: T) {
  return client;
}
