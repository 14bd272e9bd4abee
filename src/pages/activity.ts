/** `/activity`: one's own calls, and for operators everyone's. */

import type { CallFilter, ListedCall } from "../activity/call.ts";
import {
  type ActivityHandler,
  type ActivityVisit,
  filterOf,
  isOfEveryone,
  readPlace,
  visitingActivity,
  writePlace,
} from "./activity-visit.ts";
import { navFor, respondTo } from "./page-visitor.ts";
import { type Names, namesOf } from "./people-names.ts";
import { type ActivityView, activityView, type CallRow } from "./view/activity-view.ts";
import { PATHS } from "./view/paths.ts";

const PAGE_CALLS = 50;

export const showActivity: ActivityHandler = visitingActivity(async (visit) => {
  const { context, visitor, query } = visit;
  const filter = filterOf(visit);
  const isEveryones = isOfEveryone(visit);
  const before = readPlace(query.get("before"));
  const list = await context.activities.calls(filter, PAGE_CALLS, before);
  const asked = isEveryones ? filter.person : undefined;
  const named = [
    ...list.calls.map(({ person }) => person),
    ...(asked === undefined ? [] : [asked]),
  ];
  const names = isEveryones ? await namesOf(context.auth, named) : new Map<string, string>();
  const last = list.calls.at(-1);
  const model: ActivityView = {
    nav: navFor(visit.visitor, "activity"),
    recorded: context.recorded,
    isEveryones,
    filter: { ...filter, ...(asked === undefined ? { person: "" } : { person: asked }) },
    personName: asked === undefined ? undefined : (names.get(asked) ?? asked),
    slugs: context.slugs,
    rows: list.calls.map((call) => rowOf(call, isEveryones ? names : undefined)),
    unlisted: before === undefined ? list.unlisted : [],
    path: pathTo(visit, filter),
    older: list.hasMore && last ? pathTo(visit, filter, { before: writePlace(last) }) : undefined,
    isFirst: before === undefined,
    live: before === undefined ? livePath(visit, filter, list.calls[0]) : undefined,
    mayChoose: visitor.isAdmin && visitor.user !== undefined,
  };
  return respondTo(visit, activityView(model));
});

/** @param names by the ids of people; `undefined` where all calls are the visitor's own. */
export function rowOf(call: ListedCall, names?: Names): CallRow {
  const { id, at, server, method, name, outcome, ms, requestBytes, resultBytes } = call;
  const { effect, era, traceId, person, client, clientName } = call;
  return {
    ...{ id, at, server, method, name, effect, outcome, ms, requestBytes, resultBytes, era },
    ...{ traceId, place: writePlace(call) },
    client: clientName === "" ? client : clientName,
    person: names === undefined ? undefined : { id: person, name: names.get(person) ?? person },
  };
}

function pathTo(
  visit: ActivityVisit,
  filter: CallFilter,
  more: Readonly<Record<string, string>> = {},
  path: string = PATHS.activity,
): string {
  const isEveryones = isOfEveryone(visit);
  const { person, ...rest } = filter;
  const query = new URLSearchParams({
    ...(isEveryones && { of: "everyone" }),
    ...(isEveryones && person !== undefined && { person }),
    ...rest,
    ...more,
  });
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** @param newest of the calls that the page shows. */
function livePath(
  visit: ActivityVisit,
  filter: CallFilter,
  newest: ListedCall | undefined,
): string | undefined {
  if (visit.context.recorded === "off") return undefined;
  const since = newest === undefined ? "0_0" : writePlace(newest);
  return pathTo(visit, filter, { since }, PATHS.liveActivity);
}
