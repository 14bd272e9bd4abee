/** A visit to the pages of what happened, which exist with and without sign-in: who comes, and what they may see. */

import type { Activities } from "../activity/activities.ts";
import { type CallFilter, type CallPlace, OUTCOMES } from "../activity/call.ts";
import type { ConnectContext } from "./account-context.ts";
import { adminsOnly, signInFirst } from "./page-guard.ts";
import { type PageVisitor, visitorOf } from "./page-visitor.ts";

interface ActivityContext extends ConnectContext {
  readonly activities: Activities;
  /** What is recorded, and whose an operator may see. */
  readonly recorded: "off" | "own" | "all";
  /** Of the servers that are configured, in the operator's order. */
  readonly slugs: readonly string[];
  readonly keepAliveMs: number;
}

export type ActivityHandler = (context: ActivityContext, request: Request) => Promise<Response>;

export interface ActivityVisit {
  readonly context: ActivityContext;
  readonly request: Request;
  readonly visitor: PageVisitor;
  readonly query: URLSearchParams;
}

/** Wraps a page. @param isForAdmins also where people see no one's calls but their own. */
export function visitingActivity(
  show: (visit: ActivityVisit) => Promise<Response>,
  isForAdmins = false,
): ActivityHandler {
  return async (context, request) => {
    const visitor = await visitorOf(context, request);
    const { searchParams: query } = new URL(request.url);
    if (visitor === undefined) return signInFirst(context, request);
    const visit = { context, request, visitor, query };
    if ((isForAdmins || isOfEveryone(visit)) && !visitor.isAdmin) return adminsOnly(context);
    return show(visit);
  };
}

/** @returns whether the page asks for the calls of everyone, which `mayUseIt` or not. */
export function isOfEveryone({ query }: Pick<ActivityVisit, "query">): boolean {
  return query.get("of") === "everyone";
}

const MAX_CHARS = 300;

/** @returns what the list is narrowed to; to the visitor's own calls, unless it is of everyone. */
export function filterOf(visit: ActivityVisit): CallFilter {
  const { query, visitor, context } = visit;
  const seesAll = isOfEveryone(visit) && context.recorded === "all";
  const person = seesAll ? textIn(query, "person") : visitor.person;
  const [server, name] = [textIn(query, "server"), textIn(query, "name")];
  const outcome = OUTCOMES.find((each) => each === query.get("outcome"));
  const traceId = traceIn(query);
  return {
    ...(person !== undefined && { person }),
    ...(server !== undefined && { server }),
    ...(name !== undefined && { name }),
    ...(outcome !== undefined && { outcome }),
    ...(traceId !== undefined && { traceId }),
  };
}

/** @returns the id, from a whole `traceresponse` or `traceparent`, too. */
function traceIn(query: URLSearchParams): string | undefined {
  const text = textIn(query, "traceId")?.toLowerCase();
  return /(?<![\da-f])[\da-f]{32}(?![\da-f])/.exec(text ?? "")?.[0] ?? text;
}

export function textIn(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim().slice(0, MAX_CHARS) ?? "";
  return text === "" ? undefined : text;
}

const PLACE = /^(\d{1,15})_([\w.-]{1,60})$/;

/** A place in a list, as addresses have it. */
export function writePlace({ at, id }: CallPlace): string {
  return `${at}_${id}`;
}

export function readPlace(text: string | null): CallPlace | undefined {
  const [, at, id] = PLACE.exec(text ?? "") ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
