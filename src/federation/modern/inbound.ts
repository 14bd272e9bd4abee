/** A modern request on its way in, and what it is answered with. */

import type { Envelope } from "../../protocol/envelope.ts";
import type { Peer } from "../../protocol/exchange.ts";
import type { JsonObject, JsonRpcRequest, Reply } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { ClientKind } from "../catalog/catalog.ts";
import type { FanOut } from "../feed/feeds.ts";
import type { Surroundings } from "../surroundings.ts";
import type { ToolFactsOf } from "../catalog/tool-facts.ts";

export interface InboundModern {
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
}

/** How one request reaches one server: the bridge's. Never rejects but with the signal's reason. */
type RelayModern = (
  target: UpstreamTarget,
  inbound: InboundModern & { readonly toolFacts: ToolFactsOf },
  peer: Peer,
  signal: AbortSignal,
) => Promise<Reply>;

/**
 * Hears of resources in the session that the client has at a server itself, if it has one there: the
 * bridge's. Returns at once, and ends with the signal.
 *
 * @param capabilities as the client declared them.
 */
type Attend = (
  target: UpstreamTarget,
  capabilities: JsonObject,
  uris: readonly string[],
  hear: (uri: string) => void,
  signal: AbortSignal,
) => void;

export interface ModernContext extends Surroundings {
  readonly fanOut: FanOut;
  readonly relay: RelayModern;
  readonly attend: Attend;
}

/** One request, and all that belongs to it. */
export interface Visit {
  readonly context: ModernContext;
  readonly client: ClientKind;
  readonly inbound: InboundModern;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}
