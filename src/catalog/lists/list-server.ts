/** A list of the one server of an endpoint, page by page as the server sends it. */

import { isAllowed, isOpen } from "../../policy/item-policy.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { policyOf } from "../cache/lookups.ts";
import { type ListKind, LISTS } from "../catalog.ts";
import { namingOf } from "../names/naming.ts";
import type { RequestScope } from "../request-scope.ts";
import { notesOnEntries, withNotes } from "./notes.ts";
import { badCursor, BEGINNING, openServerCursor, sealServerCursor } from "./list-cursors.ts";

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
  const position = isFirst ? BEGINNING : await openServerCursor(requestScope, slug, list, sent);
  if (position === undefined) return badCursor();
  const { cursor } = position;
  const own = isFirst ? { ...params } : { ...rest, cursor };
  const reply = await ask(params === undefined ? { method } : { method, params: own });
  if ("error" in reply) return reply;
  const { nextCursor, ...page } = filterPage(requestScope, list, reply.result);
  const pages = position.pages + 1;
  // Nothing is kept between pages, so only its length reveals a circular list.
  const goesOn =
    typeof nextCursor === "string" &&
    nextCursor !== cursor &&
    pages < requestScope.limits.catalogPages;
  const noted = isFirst ? withNotes(page, notesOnEntries(requestScope)) : page;
  if (!goesOn) return { result: noted };
  const next = await sealServerCursor(requestScope, slug, list, { pages, cursor: nextCursor });
  return { result: { ...noted, nextCursor: next } };
}

/** @returns the result without forbidden items, and with the operator's names. */
export function filterPage(
  { endpoint, limits }: Pick<RequestScope, "endpoint" | "limits">,
  list: ListKind,
  result: JsonObject,
): JsonObject {
  const [server] = endpoint.servers;
  const { member, name: key } = LISTS[list];
  const items: unknown = result[member];
  if (!Array.isArray(items)) return result;
  const policy = policyOf(server, list);
  const nameOf = (item: unknown): string | undefined => {
    const name = isObject(item) ? item[key] : undefined;
    return typeof name === "string" ? name : undefined;
  };
  // The policy cannot judge an item without a name.
  const allowed = items.filter((item: unknown) => {
    const name = nameOf(item);
    return name === undefined ? isOpen(policy) : isAllowed(policy, name);
  });
  if (list !== "tools" && list !== "prompts") return { ...result, [member]: allowed };
  const names = allowed.map(nameOf).filter((name) => name !== undefined);
  const naming = namingOf(endpoint, limits.nameChars);
  const publicNames = naming.publicNames(server, list, names);
  const renamed = allowed.map((item: unknown) => {
    const name = nameOf(item);
    const publicName = name === undefined ? undefined : publicNames.get(name);
    if (publicName === undefined || publicName === name || !isObject(item)) return item;
    return { ...item, name: publicName };
  });
  return { ...result, [member]: renamed };
}
