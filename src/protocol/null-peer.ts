/** A peer for requests of the gateway's own: it hears nothing, and who asks it something is told why. */

import { ErrorCode } from "./error-codes.ts";
import type { Peer } from "./exchange.ts";
import { errorReply } from "./json-rpc.ts";

export function nullPeer(why: string): Peer {
  const reply = errorReply(ErrorCode.InvalidRequest, why);
  return { notify: () => Promise.resolve(), ask: () => Promise.resolve(reply) };
}
