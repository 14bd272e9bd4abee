/** A request of a modern client, and the services that it needs. */

import type { FanOut } from "../catalog/feeds.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import type { ClientKind } from "../endpoint/client-kind.ts";
import type { Peer } from "../protocol/exchange.ts";
import type { Bridges } from "./modern-to-legacy/bridge.ts";
import type { ToolFactsOf } from "../catalog/cache/tool-facts.ts";
import type { Envelope } from "../protocol/envelope.ts";
import type { JsonRpcRequest } from "../protocol/json-rpc.ts";

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

/** The request as the client sent it, in the endpoint's names. */
export interface ReceivedRequest {
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
}

/** The request in the names of its server, and the client that waits for the reply. */
export interface ModernCall extends ReceivedRequest {
  readonly toolFacts: ToolFactsOf;
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}
