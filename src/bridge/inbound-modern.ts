/** A modern request on its way to its server. */

import type { Envelope } from "../protocol/envelope.ts";
import type { JsonRpcRequest } from "../protocol/json-rpc.ts";
import type { ParamBinding } from "../protocol/param-headers.ts";

export interface InboundModern {
  /** In the server's own names. */
  readonly message: JsonRpcRequest;
  readonly envelope: Envelope;
  readonly headers: Headers;
  /**
   * What is known of a tool. Never rejects.
   *
   * @param isDoubted what was said before did not fit: the server is asked anew.
   * @returns `undefined` when the tool is not listed, or no list can be had.
   */
  readonly toolFacts: (name: string, isDoubted: boolean) => Promise<ToolFacts | undefined>;
}

interface ToolFacts {
  /** Which arguments its server wants in headers. */
  readonly bindings: readonly ParamBinding[];
}
