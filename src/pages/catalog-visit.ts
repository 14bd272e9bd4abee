/** A visit to the catalog, which exists with and without sign-in: who comes, and what they may use. */

import type { ConnectContext } from "./account-context.ts";
import { titleOf } from "./catalog-items.ts";
import { type Console, type ConsoleServer, ITEM_KINDS } from "./console/console.ts";
import { signInFirst } from "./page-guard.ts";
import { type PageVisitor, sentForm, visitorOf } from "./page-visitor.ts";
import type { ServerHead } from "./view/catalog-parts.ts";

interface CatalogContext extends ConnectContext {
  readonly maxFormBytes: number;
  /** Keeps the Worker running for work that outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** @param slug of the one server that the page is about, if it is about one. */
  readonly consoleOf: (visitor: PageVisitor, slug: string) => Promise<Console>;
}

/** Of the path; empty where it names none. */
interface CatalogPlace {
  readonly slug: string;
  /** The server's own name. */
  readonly tool: string;
}

export type CatalogHandler = (
  context: CatalogContext,
  request: Request,
  place: CatalogPlace,
) => Promise<Response>;

export interface CatalogVisit {
  readonly context: CatalogContext;
  readonly request: Request;
  readonly place: CatalogPlace;
  readonly visitor: PageVisitor;
  readonly console: Console;
}

/** Wraps a page. */
export function visiting(show: (visit: CatalogVisit) => Promise<Response>): CatalogHandler {
  return async (context, request, place) => {
    const visitor = await visitorOf(context, request);
    if (visitor === undefined) return signInFirst(context, request);
    const console = await context.consoleOf(visitor, place.slug);
    return show({ context, request, place, visitor, console });
  };
}

/** A form of such a page. */
export interface CatalogSubmission extends CatalogVisit {
  readonly form: URLSearchParams;
}

/** Wraps the action of a form. */
export function sent(act: (submission: CatalogSubmission) => Promise<Response>): CatalogHandler {
  return async (context, request, place) => {
    const { pathname } = new URL(request.url);
    const read = await sentForm(context, request, pathname, context.maxFormBytes);
    if (read instanceof Response) return read;
    const console = await context.consoleOf(read.visitor, place.slug);
    return act({ context, request, place, console, ...read });
  };
}

/** What every page says of a server. */
export function headOf({ context, visitor }: CatalogVisit, server: ConsoleServer): ServerHead {
  const { slug, label, info, lists, notes, state, isOwn } = server;
  return {
    slug,
    // The operator's own words first: any server can take the name of another.
    title: label === slug ? (titleOf(info ?? {}) ?? label) : label,
    version: typeof info?.["version"] === "string" ? info["version"] : undefined,
    counts: Object.fromEntries(
      ITEM_KINDS.map((kind) => [kind, lists[kind].length]),
    ) as ServerHead["counts"],
    notes,
    ...{ state, isOwn },
    auth: context.accounts.servers.get(slug)?.auth.kind,
    isForAdmin: visitor.isAdmin,
  };
}
