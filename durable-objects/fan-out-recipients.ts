/** The legacy sessions that a branch hands news to, over a Durable Object namespace. */

import type { Handed, Recipients } from "../src/notifications/fan-out/deliveries.ts";
import { count } from "../src/observability/costs.ts";
import type { SessionObject } from "./session-object.ts";

export function recipientsIn(namespace: DurableObjectNamespace<SessionObject>): Recipients {
  return {
    async deliver(session, news): Promise<Handed> {
      count("objectRequests");
      return namespace.get(namespace.idFromString(session)).deliver(news);
    },
  };
}
