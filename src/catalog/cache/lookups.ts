/**
 * Lookups in a catalog. Each index is computed once for a catalog and kept for as long as the
 * catalog itself.
 */

import { isAllowed, type ItemPolicy } from "../../policy/item-policy.ts";
import type { NamedKind, Naming } from "../names/naming.ts";
import type { Server } from "../../endpoint/server.ts";
import { type Catalog, type Item, type ListKind } from "../catalog.ts";

/** The names of the visible items; the others have no public name. */
export interface PublicIndex {
  /** The server's name → the name at the endpoint. */
  readonly toPublic: ReadonlyMap<string, string>;
  /** The name at the endpoint → the server's name. */
  readonly toServer: ReadonlyMap<string, string>;
}

interface Derived {
  readonly indexes: Partial<Record<ListKind, ReadonlyMap<string, number>>>;
  /** An endpoint has one naming, and a server one policy. */
  readonly publicIndexes: WeakMap<Naming, Partial<Record<NamedKind, PublicIndex>>>;
}

const derivedOf = new WeakMap<Catalog, Derived>();

function derived(catalog: Catalog): Derived {
  const known = derivedOf.get(catalog);
  if (known !== undefined) return known;
  const made: Derived = { indexes: {}, publicIndexes: new WeakMap() };
  derivedOf.set(catalog, made);
  return made;
}

/** The index of an item in its list. @param name the server's own. */
export function itemIndex(catalog: Catalog, list: ListKind, name: string): number | undefined {
  const { indexes } = derived(catalog);
  const known = (indexes[list] ??= new Map(
    catalog.lists[list].map((item, place) => [item.name, place]),
  ));
  return known.get(name);
}

/** @param name the server's own. */
export function itemNamed(catalog: Catalog, list: ListKind, name: string): Item | undefined {
  const place = itemIndex(catalog, list, name);
  return place === undefined ? undefined : catalog.lists[list][place];
}

/** Resources and their templates have one policy. */
export function policyOf(server: Server, list: ListKind): ItemPolicy {
  return server[list === "templates" ? "resources" : list];
}

/** @returns whether a server lists an item that may be seen. */
export function shows(server: Server, catalog: Catalog, list: ListKind, name: string): boolean {
  return itemIndex(catalog, list, name) !== undefined && isAllowed(policyOf(server, list), name);
}

export function publicIndex(
  naming: Naming,
  server: Server,
  kind: NamedKind,
  catalog: Catalog,
): PublicIndex {
  const { publicIndexes } = derived(catalog);
  const known = publicIndexes.get(naming) ?? {};
  publicIndexes.set(naming, known);
  return (known[kind] ??= makeIndex(naming, server, kind, catalog));
}

function makeIndex(naming: Naming, server: Server, kind: NamedKind, catalog: Catalog): PublicIndex {
  // Hidden names take part too: they affect the names of the others.
  const names = catalog.lists[kind].map(({ name }) => name);
  const policy = server[kind];
  const seen = [...naming.publicNames(server, kind, names)].filter(([name]) =>
    isAllowed(policy, name),
  );
  return {
    toPublic: new Map(seen),
    toServer: new Map(seen.map(([name, publicName]) => [publicName, name])),
  };
}
