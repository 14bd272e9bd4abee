/** What the parts of a federated session share. */

import type { ClientKind } from "../catalog/catalog.ts";
import type { Surroundings } from "../surroundings.ts";
import type { ServerSessions } from "./server-sessions.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface SessionContext {
  readonly surroundings: Surroundings;
  readonly client: ClientKind;
  readonly servers: ServerSessions;
  readonly subscriptions: Subscriptions;
  /** Keeps what the client wants to have logged, for servers that are called later. */
  readonly setLogLevel: (level: string) => void;
}
