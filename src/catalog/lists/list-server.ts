/**
 * A list of the one server of an endpoint, page by page as the server sends it. Its cursors are
 * sealed for the client that receives them; hidden items are left out.
 */

import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../catalog.ts";
import { badCursor } from "./list-page.ts";
import { BEGINNING, openServerCursor, sealServerCursor } from "../routing/server-cursor.ts";
import { filterPage } from "../routing/filter-page.ts";
import type { RequestScope } from "../request-scope.ts";

/** @param ask sends a request to the server. */
export async function listServer(
  requestScope: RequestScope,
  list: ListKind,
  { method, params }: Call,
  ask: (call: Call) => Promise<Reply>,
): Promise<Reply> {
  const [{ slug }] = requestScope.endpoint.servers;
  const { cursor: sent, ...rest } = params ?? {};
  const isFirst = sent === undefined;
  const place = isFirst ? BEGINNING : await openServerCursor(requestScope, slug, list, sent);
  if (place === undefined) return badCursor();
  const { cursor } = place;
  const own = isFirst ? { ...params } : { ...rest, cursor };
  const reply = await ask(params === undefined ? { method } : { method, params: own });
  if ("error" in reply) return reply;
  const { nextCursor, ...page } = filterPage(requestScope, list, reply.result);
  const pages = place.pages + 1;
  // Nothing is kept between pages, so only its length reveals a circular list.
  const goesOn =
    typeof nextCursor === "string" &&
    nextCursor !== cursor &&
    pages < requestScope.limits.catalogPages;
  if (!goesOn) return { result: page };
  const next = await sealServerCursor(requestScope, slug, list, { pages, cursor: nextCursor });
  return { result: { ...page, nextCursor: next } };
}
