/**
 * The catalog of one server for one kind of client: plain data that travels between objects. Items
 * are kept as text: ten thousand tools are a few megabytes of text, and several times that as
 * objects.
 */

import { parseLossless } from "../lib/lossless-json.ts";
import type { ClientKind } from "../endpoint/client-kind.ts";
import type { JsonObject } from "../protocol/json-rpc.ts";
import type { Era } from "../protocol/revisions.ts";

export type ListKind = "tools" | "resources" | "templates" | "prompts";

interface ListFacts {
  readonly method: string;
  /** The member of the result that holds the list. */
  readonly member: string;
  /** The member that identifies a listed item. */
  readonly name: "name" | "uri" | "uriTemplate";
}

export const LISTS: Readonly<Record<ListKind, ListFacts>> = {
  tools: { method: "tools/list", member: "tools", name: "name" },
  resources: { method: "resources/list", member: "resources", name: "uri" },
  templates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    name: "uriTemplate",
  },
  prompts: { method: "prompts/list", member: "prompts", name: "name" },
};

export const LIST_KINDS = Object.keys(LISTS) as readonly ListKind[];

export interface Item {
  /** The server's own name, URI or URI template. Unique in its list. */
  readonly name: string;
  /** The item as JSON, as the server sent it. */
  readonly text: string;
}

/** @returns the item as an object; every text in a catalog is that of one. */
export function parseItem({ text }: Pick<Item, "text">): JsonObject {
  return parseLossless(text) as JsonObject;
}

/** A server's description of itself. */
export interface About {
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
}

/** The reason where a server is still being asked, for the first time. */
export const SLOW = "slow";

/** The reason why a server is unavailable, or was at the last request. */
export interface Trouble {
  readonly reason: string;
  /** A sentence that names the slug and never quotes the server. */
  readonly message: string;
  /** Why there was no connection, for the operator alone. */
  readonly cause?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** A list that the server did not return, though it returned others. */
export interface ListFault extends Trouble {
  readonly list: ListKind;
}

export interface Catalog {
  /** Changes whenever anything in the catalog changes. */
  readonly version: string;
  /** The era in which the server was asked and answered. */
  readonly era: Era;
  readonly about: About;
  /** In the server's order, without duplicates and items that may not be passed on. */
  readonly lists: Readonly<Record<ListKind, readonly Item[]>>;
  /** Sentences for the user about omitted items; empty for nearly every server. */
  readonly flaws: readonly string[];
  /** Each of these lists is the last one that the server returned, or empty if there was none. */
  readonly faults: readonly ListFault[];
  readonly isPublic: boolean;
}

export interface CatalogQuestion {
  readonly client: ClientKind;
  /** The version that the caller has. */
  readonly known?: string | undefined;
  /** Milliseconds that the caller waits for a newer catalog if the stored one is not fresh. */
  readonly waitMs: number;
  /** The server's behaviour contradicted the known version: it is read again even if fresh. */
  readonly isDoubted?: boolean;
  /** A call is routed by the answer. Nobody is shown it, so nobody has to hear of a newer one. */
  readonly isForRouting?: boolean;
}

interface Judged {
  /** Milliseconds for which no change is expected. */
  readonly freshMs: number;
  /** The server is unavailable at the moment, and this is its last good catalog. */
  readonly trouble?: Trouble;
}

export type CatalogAnswer =
  | ({ readonly kind: "same" } & Judged)
  | ({ readonly kind: "catalog"; readonly catalog: Catalog } & Judged)
  /** No catalog was ever read, or it is too old to be shown. */
  | { readonly kind: "none"; readonly trouble: Trouble };
