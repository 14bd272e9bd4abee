/** A modern request on its way to its server. */

import type { Envelope } from "../protocol/envelope.ts";
import type { JsonRpcRequest } from "../protocol/json-rpc.ts";
import type { ToolFactsOf } from "./tool-facts.ts";

export interface InboundModern {
  /** In the server's own names. */
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
  readonly toolFacts: ToolFactsOf;
}
