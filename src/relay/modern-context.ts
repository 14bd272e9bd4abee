/** A request of a modern client, and the services that it needs. */

import type { FanOut } from "../catalog/feeds.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import type { ClientKind } from "../endpoint/client-kind.ts";
import type { Peer } from "../protocol/exchange.ts";
import type { Bridges } from "./modern-to-legacy/bridge.ts";
import type { ReceivedRequest } from "./modern-to-modern/inbound-modern.ts";

export interface ModernContext extends RequestScope {
  readonly fanOut: FanOut;
  readonly bridges: Bridges;
}

/** One request with its context, client and peer. */
export interface RequestContext {
  readonly context: ModernContext;
  readonly client: ClientKind;
  readonly inbound: ReceivedRequest;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}
