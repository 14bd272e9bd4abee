/** Lists the items of an endpoint's only server, with the cache scope for a modern client. */

import type { Reply } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../catalog/catalog.ts";
import { listServer } from "../../catalog/lists/list-server.ts";
import { relayTo } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

export async function listForModern(
  requestContext: RequestContext,
  list: ListKind,
): Promise<Reply> {
  const { context, inbound } = requestContext;
  const [server] = context.endpoint.servers;
  const { message } = inbound;
  const reply = await listServer(context, list, message, (call) =>
    relayTo(requestContext, server, call),
  );
  if ("error" in reply) return reply;
  const { result } = reply;
  // A cursor belongs to one client, and all pages of a list have the same cache scope (caching: MUST).
  const isPaged = message.params?.cursor !== undefined || result.nextCursor !== undefined;
  return isPaged ? { result: { ...result, cacheScope: "private" } } : reply;
}
