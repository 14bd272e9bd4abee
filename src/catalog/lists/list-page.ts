/**
 * One page of a merged list: the servers in the operator's order, and the items of each in the
 * server's. All servers are asked at once, and a full page waits for no further server.
 */

import { isAllowed } from "../../policy/item-policy.ts";
import { metaOf } from "../../protocol/envelope.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { type Era, isLegacyRevision } from "../../protocol/revisions.ts";
import { toLegacyTool, toModernTool } from "../../protocol/revisions/tool.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { type Announcer, currentCatalog, type Known, recentCatalog } from "../cache/catalogs.ts";
import { itemIndex, policyOf, publicIndex } from "../cache/lookups.ts";
import { type Catalog, type Item, type ListKind, LISTS, parseItem } from "../catalog.ts";
import { namingOf } from "../names/naming.ts";
import type { RequestScope } from "../request-scope.ts";
import { type Conflict, conflictsWith, isTaken } from "../routing/conflicts.ts";
import { announceLater } from "./announce-later.ts";
import {
  badCursor,
  type MergedListPosition,
  openMergedCursor,
  sealMergedCursor,
} from "./list-cursors.ts";
import { freshMsOf, metaOfItems, metaOfServers, notesOnEntries, STATE_KEY } from "./notes.ts";

export interface PageQuestion {
  readonly client: ClientKind;
  readonly list: ListKind;
  /** As the client sent it. */
  readonly cursor?: unknown;
  /** The part of the name to search for (`params._meta["edgeway/search"]`). */
  readonly search?: unknown;
  /** Called with whom the page could not ask, before the answer. */
  readonly onUnasked?: (announcer: Announcer) => void;
}

/** @returns the result as 2026-07-28 has it, with `ttlMs` and `cacheScope`; or an error. */
export async function listPage(
  requestScope: RequestScope,
  { client, list, cursor, search, onUnasked }: PageQuestion,
): Promise<Reply> {
  const { endpoint, limits } = requestScope;
  const place =
    cursor === undefined ? undefined : await openMergedCursor(requestScope, list, cursor);
  const isThere = endpoint.servers.some(({ slug }) => slug === place?.slug);
  if (cursor !== undefined && (place === undefined || !isThere)) return badCursor();
  const searched = place === undefined ? searchFrom(search) : place.search;
  const since = place?.since ?? Date.now();
  const page = new MergedPage({ endpoint, limits, client, list, search: searched, since });
  const unasked = (announcer: Announcer): void => {
    requestScope.waitUntil(announceLater(announcer));
    onUnasked?.(announcer);
  };
  return { result: await fill(requestScope, page, { client, place, unasked }) };
}

/** The legacy revisions know nothing of caching. The notes on servers in `_meta` stay. */
export function asLegacyList(result: JsonObject): JsonObject {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  return rest;
}

function searchFrom(search: unknown): string | undefined {
  return typeof search === "string" && search !== "" ? search.toLowerCase() : undefined;
}

interface Filling {
  readonly client: ClientKind;
  /** The end of the page before. */
  readonly place: MergedListPosition | undefined;
  readonly unasked: (announcer: Announcer) => void;
}

async function fill(
  requestScope: RequestScope,
  page: MergedPage,
  { client, place, unasked }: Filling,
): Promise<JsonObject> {
  const { servers } = requestScope.endpoint;
  const first = place === undefined ? 0 : servers.findIndex(({ slug }) => slug === place.slug);
  const asked = servers.map((server, n) => {
    // The items of these servers were on earlier pages.
    if (n < first && !page.heedsOthers) return undefined;
    return place === undefined
      ? currentCatalog(requestScope, server, client)
      : recentCatalog(requestScope, server, client, place.since);
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
    if (known.announcer !== undefined) unasked(known.announcer);
    page.add(known, n === first ? place : undefined);
    isLast = !page.isCut && (n === servers.length - 1 || !page.isFull);
    if (!isLast) break;
  }
  const next = isLast ? undefined : page.end;
  return complete(page, consulted, {
    entries: place === undefined ? notesOnEntries(requestScope) : [],
    isWhole: place === undefined && next === undefined,
    nextCursor: next && (await sealMergedCursor(requestScope, next)),
  });
}

interface PageEnd {
  /** The notes on entries of the configuration, for those who may read them. */
  readonly entries: readonly JsonObject[];
  readonly isWhole: boolean;
  readonly nextCursor: string | undefined;
}

function complete(
  { list, items, conflicts }: MergedPage,
  consulted: readonly Known[],
  { entries, isWhole, nextCursor }: PageEnd,
): JsonObject {
  const isPublic =
    entries.length === 0 &&
    consulted.every(({ catalog, trouble }) => catalog?.isPublic === true && trouble === undefined);
  const meta = metaOfServers(consulted, conflicts, entries);
  return {
    resultType: "complete",
    [LISTS[list].member]: items,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ttlMs: freshMsOf(consulted),
    // All pages have the same scope (caching: MUST), and a cursor is valid for one client only.
    cacheScope: isWhole && isPublic ? "public" : "private",
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

interface PageOptions extends Pick<RequestScope, "endpoint" | "limits"> {
  readonly client: ClientKind;
  readonly list: ListKind;
  /** In lower case. */
  readonly search: string | undefined;
  /** When the client asked for the first page. */
  readonly since: number;
}

const encoder = new TextEncoder();

/** The items on one page. The caller adds servers in their order, as long as there is room. */
class MergedPage {
  readonly list: ListKind;
  readonly items: JsonObject[] = [];
  /** Resources keep their URIs, so several servers may list the same: the first one owns it. */
  readonly heedsOthers: boolean;
  /** The conflicts of the servers on the page with earlier servers. */
  readonly conflicts: Conflict[] = [];
  /** The position behind the last item on the page. */
  end: MergedListPosition | undefined;
  /** An added item found no room. */
  isCut = false;
  readonly #options: PageOptions;
  readonly #passed: Known[] = [];
  #bytes = 0;

  constructor(options: PageOptions) {
    this.list = options.list;
    this.heedsOthers = options.list === "resources" || options.list === "templates";
    this.#options = options;
  }

  /** The page has no room for another item. */
  get isFull(): boolean {
    const { listPageItems, listPageBytes } = this.#options.limits;
    return this.items.length >= listPageItems || this.#bytes >= listPageBytes;
  }

  /** Notes a server whose items were on earlier pages. */
  pass(known: Known): void {
    if (this.heedsOthers) this.#passed.push(known);
  }

  /** @param place the end of the page before, if that was in this server. */
  add(known: Known, place: MergedListPosition | undefined): void {
    const { server, catalog } = known;
    if (catalog !== undefined) {
      const { search, since, limits } = this.#options;
      const { list } = this;
      if (this.heedsOthers) this.conflicts.push(...conflictsWith(this.#passed, known));
      const added = metaOfItems(known, list);
      let returned = place?.returned ?? 0;
      for (const [index, item, publicName] of this.#visible(known, catalog, place)) {
        if (search !== undefined && !isFound(item, publicName, list, search)) continue;
        // A server that returns new items for every page would have no last page.
        if (returned >= limits.catalogItems || !this.#take(catalog, item, publicName, added)) break;
        returned += 1;
        this.end = { list, slug: server.slug, index, after: item.name, returned, search, since };
      }
    }
    this.pass(known);
  }

  /** Yields the visible items of a server behind the place. */
  *#visible(
    known: Known,
    catalog: Catalog,
    place: MergedListPosition | undefined,
  ): Generator<readonly [index: number, item: Item, publicName: string], void, void> {
    const { endpoint, limits } = this.#options;
    const { list } = this;
    const { server } = known;
    const items = catalog.lists[list];
    const naming = namingOf(endpoint, limits.nameChars);
    const index =
      list === "tools" || list === "prompts"
        ? publicIndex(naming, server, list, catalog)
        : undefined;
    for (let at = startOf(catalog, place); at < items.length; at++) {
      const item = items[at];
      if (item === undefined) return;
      const publicName =
        index === undefined ? this.#ownName(known, item) : index.toPublic.get(item.name);
      if (publicName !== undefined) yield [at, item, publicName];
    }
  }

  /** Lists an item only if requests for it go to this server. */
  #ownName(known: Known, { name }: Item): string | undefined {
    const isVisible = isAllowed(policyOf(known.server, this.list), name);
    return isVisible && !isTaken(this.#passed, known, this.list, name) ? name : undefined;
  }

  /** @returns `false` when there is no room. The first item always fits. */
  #take({ era }: Catalog, listed: Item, publicName: string, added: JsonObject): boolean {
    const bytes = encoder.encode(listed.text).length;
    const { limits, client } = this.#options;
    const { listPageItems, listPageBytes } = limits;
    const fits = this.items.length < listPageItems && this.#bytes + bytes <= listPageBytes;
    if (this.items.length > 0 && !fits) {
      this.isCut = true;
      return false;
    }
    this.#bytes += bytes;
    const item = parseItem(listed);
    const presented = this.list === "tools" ? presentTool(item, era, client) : item;
    this.items.push(named(presented, this.heedsOthers ? undefined : publicName, added));
    return true;
  }
}

/** The index behind the last returned item; if that item is gone, its old index. */
function startOf(catalog: Catalog, place: MergedListPosition | undefined): number {
  if (place === undefined) return 0;
  const { list, index, after } = place;
  if (after === undefined) return index + 1;
  const found = itemIndex(catalog, list, after);
  return found === undefined ? index : found + 1;
}

/**
 * Translates a tool to the client's revision.
 *
 * @param era the server's.
 */
export function presentTool(tool: JsonObject, era: Era, { revision }: ClientKind): JsonObject {
  // Merged endpoints advertise no tasks of 2025-11-25.
  if (isLegacyRevision(revision)) return toLegacyTool(tool, { revision, era, hasTasks: false });
  return era === "modern" ? tool : toModernTool(tool);
}

function named(item: JsonObject, name: string | undefined, added: JsonObject): JsonObject {
  // Only the gateway may set the state, so a server's own value is removed.
  const { [STATE_KEY]: _, ...own } = metaOf(item);
  return {
    ...item,
    ...(name === undefined ? {} : { name }),
    _meta: { ...own, ...added },
  };
}

/** Tools and prompts are found by their names here, resources by their URIs and titles. */
function isFound(item: Item, publicName: string, list: ListKind, search: string): boolean {
  const has = (value: unknown): boolean =>
    typeof value === "string" && value.toLowerCase().includes(search);
  if (has(publicName) || list === "tools" || list === "prompts") return has(publicName);
  const { title, name } = parseItem(item);
  return has(title) || has(name);
}
