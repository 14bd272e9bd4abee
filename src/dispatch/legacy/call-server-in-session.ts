/** Sends a session's request to one server: through the guard, and names the server to the client. */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { attributed } from "../../endpoint/attribution.ts";
import { namingElicitations } from "../guard/asker.ts";
import { guarded } from "../guard/guarded.ts";
import type { Server } from "../../endpoint/server.ts";
import type { SessionContext } from "./session-context.ts";
import { attributedPeer } from "./server-attribution.ts";
import { serverResumeToken } from "./server-resume-token.ts";

/** The client that waits for the reply. */
export interface Caller {
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

/** @param call in the server's own names. */
export async function callServerInSession(
  { requestScope, servers, subscriptions }: SessionContext,
  server: Server,
  call: Call,
  { peer, signal }: Caller,
): Promise<Reply> {
  const { slug } = server;
  const { isMerged } = requestScope.endpoint;
  // The only server of an endpoint is found without a token.
  if (isMerged) peer.routed?.(serverResumeToken(slug));
  const speaking = attributedPeer(peer, servers.attribution(slug));
  const reply = await guarded(requestScope, server, call, async () => {
    if (call.method === "tools/call") await subscriptions.called(server);
    return servers.at(server).request(call, speaking, signal);
  });
  return isMerged ? namingServer(reply, slug) : reply;
}

/** Names the server in a result, and in an error that asks for visits to pages. */
export function namingServer(reply: Reply, slug: string): Reply {
  return "result" in reply
    ? { result: attributed(reply.result, slug) }
    : { error: namingElicitations(reply.error, slug) };
}
