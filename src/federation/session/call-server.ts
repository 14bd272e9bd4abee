/** One request of a session's that is a server's: through the guard, and under the asker's name. */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { attributed } from "../attribution.ts";
import { namingElicitations } from "../calls/asker.ts";
import { guarded } from "../calls/guarded.ts";
import type { Server } from "../server.ts";
import type { SessionContext } from "./session-context.ts";
import { speakingOn } from "./speaker.ts";
import { ticketOf } from "./ticket.ts";

/** Who waits for the answer, and until when. */
export interface Caller {
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

/** @param call in the server's own names. */
export async function callServer(
  { surroundings, servers, subscriptions }: SessionContext,
  server: Server,
  call: Call,
  { peer, signal }: Caller,
): Promise<Reply> {
  const { slug } = server;
  const { isMerged } = surroundings.endpoint;
  // A server alone is found without.
  if (isMerged) peer.routed?.(ticketOf(slug));
  const speaking = speakingOn(peer, servers.speaker(slug));
  const reply = await guarded(surroundings, server, call, async () => {
    if (call.method === "tools/call") await subscriptions.called(server);
    return servers.at(server).request(call, speaking, signal);
  });
  return isMerged ? namingServer(reply, slug) : reply;
}

/** Whose a result is, and who asks for visits to pages in an error. */
export function namingServer(reply: Reply, slug: string): Reply {
  return "result" in reply
    ? { result: attributed(reply.result, slug) }
    : { error: namingElicitations(reply.error, slug) };
}
