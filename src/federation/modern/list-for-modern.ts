/** A list of the one server of an endpoint, as a modern client may keep it. */

import type { Reply } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../catalog/catalog.ts";
import { listServer } from "../routing/list-server.ts";
import { relayTo } from "./call-server.ts";
import type { Visit } from "./inbound.ts";

export async function listForModern(visit: Visit, list: ListKind): Promise<Reply> {
  const { context, inbound } = visit;
  const [server] = context.endpoint.servers;
  const { message } = inbound;
  const reply = await listServer(context, list, message, (call) => relayTo(visit, server, call));
  if ("error" in reply) return reply;
  const { result } = reply;
  // Its cursors are nobody else's, and all pages of a list say the same of it (caching: MUST).
  const isPaged = message.params?.["cursor"] !== undefined || result["nextCursor"] !== undefined;
  return isPaged ? { result: { ...result, cacheScope: "private" } } : reply;
}
