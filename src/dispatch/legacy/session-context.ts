/** The objects that the parts of a session's dispatch share. */

import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import type { ServerSessions } from "./server-sessions.ts";
import type { EndpointSubscriptions } from "../../notifications/legacy/endpoint-subscriptions.ts";

export interface SessionContext {
  readonly requestScope: RequestScope;
  readonly client: ClientKind;
  readonly servers: ServerSessions;
  readonly subscriptions: EndpointSubscriptions;
  /** Keeps the client's log level for servers that are called later. */
  readonly setLogLevel: (level: string) => void;
}
