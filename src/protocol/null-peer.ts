/** A peer for requests of the gateway's own: it ignores notifications and refuses questions. */

import { ErrorCode } from "./error-codes.ts";
import type { Peer } from "./exchange.ts";
import { errorReply } from "./json-rpc.ts";

export function nullPeer(why: string): Peer {
  const reply = errorReply(ErrorCode.InvalidRequest, why);
  return { notify: () => Promise.resolve(), ask: () => Promise.resolve(reply) };
}
