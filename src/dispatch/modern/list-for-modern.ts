/** A list of the one server of an endpoint, as a modern client may keep it. */

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
  // Its cursors are nobody else's, and all pages of a list say the same of it (caching: MUST).
  const isPaged = message.params?.["cursor"] !== undefined || result["nextCursor"] !== undefined;
  return isPaged ? { result: { ...result, cacheScope: "private" } } : reply;
}
