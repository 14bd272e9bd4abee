/**
 * The items on one page of a merged list. The caller adds servers in their order; the page takes the
 * visible items of each, as long as there is room.
 */

import { isAllowed } from "../../policy/item-policy.ts";
import type { Limits } from "../../policy/limits.ts";
import { metaOf } from "../../protocol/envelope.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { namingOf } from "../names/naming.ts";
import { type Conflict, conflictsWith, isTaken } from "../routing/conflicts.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog, Item, ListKind } from "../catalog.ts";
import type { Known } from "../cache/catalogs.ts";
import { placeOf, policyOf, publicIndex } from "../cache/lookups.ts";
import { metaOfItems, STATE_KEY } from "./notes.ts";
import type { MergedListPosition } from "./merged-cursor.ts";
import { presentTool } from "./present-tool.ts";

interface PageOptions {
  readonly endpoint: Endpoint;
  readonly limits: Limits;
  readonly client: ClientKind;
  readonly list: ListKind;
  /** In lower case. */
  readonly search: string | undefined;
}

const encoder = new TextEncoder();

export class MergedPage {
  readonly list: ListKind;
  readonly things: JsonObject[] = [];
  /** Resources keep their URIs, so several servers may list the same: the first one owns it. */
  readonly heedsOthers: boolean;
  readonly #options: PageOptions;
  readonly #passed: Known[] = [];
  readonly #conflicts: Conflict[] = [];
  #bytes = 0;
  #end: MergedListPosition | undefined;
  #isCut = false;

  constructor(options: PageOptions) {
    this.list = options.list;
    this.heedsOthers = options.list === "resources" || options.list === "templates";
    this.#options = options;
  }

  /** The page has no room for another item. */
  get isFull(): boolean {
    const { listPageItems, listPageBytes } = this.#options.limits;
    return this.things.length >= listPageItems || this.#bytes >= listPageBytes;
  }

  /** An added item found no room. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The conflicts of the servers on the page with earlier servers. */
  get conflicts(): readonly Conflict[] {
    return this.#conflicts;
  }

  /** The position behind the last item on the page. */
  get end(): MergedListPosition | undefined {
    return this.#end;
  }

  /** Notes a server whose items were on earlier pages. */
  pass(known: Known): void {
    if (this.heedsOthers) this.#passed.push(known);
  }

  /** @param place the end of the page before, if that was in this server. */
  add(known: Known, place: MergedListPosition | undefined): void {
    const { server, catalog } = known;
    if (catalog !== undefined) {
      const { search, limits } = this.#options;
      const { list } = this;
      if (this.heedsOthers) this.#conflicts.push(...conflictsWith(this.#passed, known));
      const added = metaOfItems(known, list);
      let told = place?.told ?? 0;
      for (const [index, item, publicName] of this.#seen(known, catalog, place)) {
        if (search !== undefined && !isFound(item, publicName, list, search)) continue;
        // A server that returns new items for every page would have no last page.
        if (told >= limits.catalogItems || !this.#take(catalog, item, publicName, added)) break;
        told += 1;
        this.#end = { list, slug: server.slug, index, after: item.name, told, search };
      }
    }
    this.pass(known);
  }

  /** Yields the visible items of a server behind the place. */
  *#seen(
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
    const isSeen = isAllowed(policyOf(known.server, this.list), name);
    return isSeen && !isTaken(this.#passed, known, this.list, name) ? name : undefined;
  }

  /** @returns `false` when there is no room. The first item always fits. */
  #take({ era }: Catalog, { text }: Item, publicName: string, added: JsonObject): boolean {
    const bytes = encoder.encode(text).length;
    const { listPageItems, listPageBytes } = this.#options.limits;
    const fits = this.things.length < listPageItems && this.#bytes + bytes <= listPageBytes;
    if (this.things.length > 0 && !fits) {
      this.#isCut = true;
      return false;
    }
    this.#bytes += bytes;
    const thing = read(text);
    const told = this.list === "tools" ? presentTool(thing, era, this.#options.client) : thing;
    this.things.push(named(told, this.heedsOthers ? undefined : publicName, added));
    return true;
  }
}

/** The index behind the last returned item; if that item is gone, its old index. */
function startOf(catalog: Catalog, place: MergedListPosition | undefined): number {
  if (place === undefined) return 0;
  const { list, index, after } = place;
  if (after === undefined) return index + 1;
  const found = placeOf(catalog, list, after);
  return found === undefined ? index : found + 1;
}

/** Every text in a catalog is a JSON object. */
function read(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

function named(thing: JsonObject, name: string | undefined, added: JsonObject): JsonObject {
  // Only the gateway may set the state, so a server's own value is removed.
  const { [STATE_KEY]: _, ...own } = metaOf(thing);
  return {
    ...thing,
    ...(name === undefined ? {} : { name }),
    _meta: { ...own, ...added },
  };
}

/** Tools and prompts are found by their names here, resources by their URIs and titles. */
function isFound({ text }: Item, publicName: string, list: ListKind, search: string): boolean {
  const has = (value: unknown): boolean =>
    typeof value === "string" && value.toLowerCase().includes(search);
  if (has(publicName) || list === "tools" || list === "prompts") return has(publicName);
  const { title, name } = read(text);
  return has(title) || has(name);
}
