/** A visit to the catalog, which exists with and without sign-in: who comes, and what they may use. */

import { signInPath } from "../auth/sign-in/browser.ts";
import type { ConnectContext } from "./account-context.ts";
import type { Console } from "./console/console.ts";
import { type PageVisitor, visitorOf } from "./page-visitor.ts";
import { page, seeOther } from "./respond.ts";
import type { View } from "./view/layout.ts";

interface CatalogContext extends ConnectContext {
  readonly consoleOf: (person: string) => Console;
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
    const { pathname, search } = new URL(request.url);
    if (visitor === undefined) return seeOther(signInPath(pathname + search), context);
    return show({ context, request, place, visitor, console: context.consoleOf(visitor.person) });
  };
}

/** A page, with the cookies of its visitor. */
export function respond({ context, visitor }: CatalogVisit, view: View, status = 200): Response {
  const headers = new Headers(visitor.cookies.map((value) => ["Set-Cookie", value]));
  return page(view, { origin: context.origin, headers, status });
}

/** The navigation of these pages. */
export function navOf({ visitor }: CatalogVisit): NonNullable<View["nav"]> {
  const { isAdmin, user } = visitor;
  return { current: "catalog", isAdmin, ...(user === undefined && { isLocal: true }) };
}
