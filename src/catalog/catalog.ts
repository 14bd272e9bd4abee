/**
 * What one server has to offer to one kind of client, as plain data that travels between objects.
 * Things are kept as text: ten thousand tools are a few megabytes of it, and several times that as
 * objects.
 */

import type { ClientKind } from "../endpoint/client-kind.ts";
import type { JsonObject } from "../protocol/json-rpc.ts";
import type { Era } from "../protocol/revisions.ts";

export type ListKind = "tools" | "resources" | "templates" | "prompts";

interface ListFacts {
  readonly method: string;
  /** The member of the result that has the list. */
  readonly member: string;
  /** The member of a listed thing that it is known by. */
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
  /** The server's own: a name, a URI or a URI template. Unique in its list. */
  readonly name: string;
  /** The thing as JSON, as the server gave it. */
  readonly text: string;
}

/** What a server says of itself. */
export interface About {
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
}

/** Why a server is not to be had, or was not when it was asked last. */
export interface Trouble {
  readonly reason: string;
  /** A sentence that names the slug, and quotes nothing of the server's. */
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** A list that the server did not give, though it gave others. */
export interface ListFault extends Trouble {
  readonly list: ListKind;
}

export interface Catalog {
  /** Another one whenever anything in the catalog is. */
  readonly version: string;
  /** That the server was asked in, and whose words it answered in. */
  readonly era: Era;
  readonly about: About;
  /** In the server's order, without duplicates and what may not be passed on. */
  readonly lists: Readonly<Record<ListKind, readonly Item[]>>;
  /** Sentences on what was left out, for the user; empty for nearly every server. */
  readonly flaws: readonly string[];
  /** Each of these lists is the last one that the server gave; empty if it never gave any. */
  readonly faults: readonly ListFault[];
  readonly isPublic: boolean;
}

export interface CatalogQuestion {
  readonly client: ClientKind;
  /** The version that the asker has. */
  readonly known?: string | undefined;
  /** How long the asker waits for a newer one if what is there is not fresh, in milliseconds. */
  readonly waitMs: number;
  /** The server has refused what the known one says: it is read anew, however fresh it is. */
  readonly isDoubted?: boolean;
}

interface Judged {
  /** Milliseconds for which nothing else is to be expected. */
  readonly freshMs: number;
  /** It is the last good one: the server is not to be had at the moment. */
  readonly trouble?: Trouble;
}

export type CatalogAnswer =
  | ({ readonly kind: "same" } & Judged)
  | ({ readonly kind: "catalog"; readonly catalog: Catalog } & Judged)
  /** There never was one, or it is too old to be shown. */
  | { readonly kind: "none"; readonly trouble: Trouble };
