/**
 * One page of a merged list: the servers in the operator's order, and the items of each in the
 * server's. All servers are asked at once, and a full page waits for no further server.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  type ErrorObject,
  errorReply,
  type JsonObject,
  type Reply,
} from "../../protocol/json-rpc.ts";
import type { RequestScope } from "../request-scope.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { type ListKind, LISTS } from "../catalog.ts";
import { currentCatalog, type Known, knownCatalog, recentCatalog } from "../cache/catalogs.ts";
import { MergedPage } from "./merged-page.ts";
import { freshMsOf, metaOfServers } from "./notes.ts";
import { openMergedCursor, type MergedListPosition, sealMergedCursor } from "./merged-cursor.ts";

export interface PageQuestion {
  readonly client: ClientKind;
  readonly list: ListKind;
  /** As the client sent it. */
  readonly cursor?: unknown;
  /** The part of the name to search for (`params._meta["edgeway/search"]`). */
  readonly search?: unknown;
}

/** The same error for every invalid cursor. */
export function badCursor(): { readonly error: ErrorObject } {
  return errorReply(ErrorCode.InvalidParams, "Invalid cursor: list again from the beginning");
}

/** @returns the result as 2026-07-28 has it, with `ttlMs` and `cacheScope`; or an error. */
export async function listPage(
  requestScope: RequestScope,
  { client, list, cursor, search }: PageQuestion,
): Promise<Reply> {
  const { endpoint, limits } = requestScope;
  if (cursor === undefined) {
    const page = new MergedPage({ endpoint, limits, client, list, search: searchFrom(search) });
    return { result: await fill(requestScope, client, page, undefined) };
  }
  const place = await openMergedCursor(requestScope, list, cursor);
  const isThere = endpoint.servers.some(({ slug }) => slug === place?.slug);
  if (place === undefined || !isThere) return badCursor();
  const page = new MergedPage({ endpoint, limits, client, list, search: place.search });
  return { result: await fill(requestScope, client, page, place) };
}

function searchFrom(search: unknown): string | undefined {
  return typeof search === "string" && search !== "" ? search.toLowerCase() : undefined;
}

/** @param place the end of the page before. */
async function fill(
  requestScope: RequestScope,
  client: ClientKind,
  page: MergedPage,
  place: MergedListPosition | undefined,
): Promise<JsonObject> {
  const { servers } = requestScope.endpoint;
  const first = place === undefined ? 0 : servers.findIndex(({ slug }) => slug === place.slug);
  const ask = place === undefined ? currentCatalog : recentCatalog;
  const asked = servers.map((server, n) => {
    if (n >= first) return ask(requestScope, server, client);
    // The items of these servers were on earlier pages.
    return page.heedsOthers ? knownCatalog(requestScope, server, client) : undefined;
  });
  // Catalogs that this page does not wait for are ready for the next page.
  for (const asking of asked) if (asking !== undefined) requestScope.waitUntil(asking);

  const consulted: Known[] = [];
  let isLast = true;
  for (const [n, asking] of asked.entries()) {
    const known = await asking;
    if (known === undefined) continue;
    if (n < first) {
      page.pass(known);
      continue;
    }
    consulted.push(known);
    page.add(known, n === first ? place : undefined);
    isLast = !page.isCut && (n === servers.length - 1 || !page.isFull);
    if (!isLast) break;
  }
  const next = isLast ? undefined : page.end;
  return complete(page, consulted, {
    isWhole: place === undefined && next === undefined,
    nextCursor: next && (await sealMergedCursor(requestScope, next)),
  });
}

function complete(
  { list, things, conflicts }: MergedPage,
  consulted: readonly Known[],
  { isWhole, nextCursor }: { isWhole: boolean; nextCursor: string | undefined },
): JsonObject {
  const isPublic = consulted.every(
    ({ catalog, trouble }) => catalog?.isPublic === true && trouble === undefined,
  );
  const meta = metaOfServers(consulted, conflicts);
  return {
    resultType: "complete",
    [LISTS[list].member]: things,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ttlMs: freshMsOf(consulted),
    // All pages have the same scope (caching: MUST), and a cursor is valid for one client only.
    cacheScope: isWhole && isPublic ? "public" : "private",
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}
