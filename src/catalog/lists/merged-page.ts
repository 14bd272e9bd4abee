/**
 * The things on one page of a merged list. It is given servers in their order, and takes of each
 * what may be seen, as long as there is room.
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
  /** Resources keep their URIs, so several servers may have the same: the first of them has it. */
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

  /** There is no room for anything more. */
  get isFull(): boolean {
    const { listPageItems, listPageBytes } = this.#options.limits;
    return this.things.length >= listPageItems || this.#bytes >= listPageBytes;
  }

  /** Something that was given has found no room. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** What the servers on the page give up to those before them. */
  get conflicts(): readonly Conflict[] {
    return this.#conflicts;
  }

  /** Behind the last thing on the page. */
  get end(): MergedListPosition | undefined {
    return this.#end;
  }

  /** Takes note of a server whose things were on pages before. */
  pass(known: Known): void {
    if (this.heedsOthers) this.#passed.push(known);
  }

  /** @param place where the page before ended, if that was in this server. */
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
        // A server that has something else for every page would have no last one.
        if (told >= limits.catalogItems || !this.#take(catalog, item, publicName, added)) break;
        told += 1;
        this.#end = { list, slug: server.slug, index, after: item.name, told, search };
      }
    }
    this.pass(known);
  }

  /** What may be seen of a server, behind the place. */
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

  /** What is listed is what will be read: nothing that requests for it lead elsewhere. */
  #ownName(known: Known, { name }: Item): string | undefined {
    const isSeen = isAllowed(policyOf(known.server, this.list), name);
    return isSeen && !isTaken(this.#passed, known, this.list, name) ? name : undefined;
  }

  /** @returns `false` when there is no room. One thing finds room, however large. */
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

/** Behind the thing that was told last; if that is gone, where it was. */
function startOf(catalog: Catalog, place: MergedListPosition | undefined): number {
  if (place === undefined) return 0;
  const { list, index, after } = place;
  if (after === undefined) return index + 1;
  const found = placeOf(catalog, list, after);
  return found === undefined ? index : found + 1;
}

/** A catalog has nothing but texts of JSON objects. */
function read(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

function named(thing: JsonObject, name: string | undefined, added: JsonObject): JsonObject {
  // What a server says there of its state is not what the gateway says.
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
