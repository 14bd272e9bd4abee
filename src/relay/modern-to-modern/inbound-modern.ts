/** A modern request on its way to its server. */

import type { ToolFactsOf } from "../../catalog/cache/tool-facts.ts";
import type { Envelope } from "../../protocol/envelope.ts";
import type { JsonRpcRequest } from "../../protocol/json-rpc.ts";

/** The request as the client sent it, in the endpoint's names. */
export interface ReceivedRequest {
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
}

/** The request in the server's own names. */
export interface InboundModern extends ReceivedRequest {
  readonly toolFacts: ToolFactsOf;
}
