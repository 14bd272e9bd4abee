/** `/usage` and `/usage.csv`: what everybody has called, for operators. */

import { percentile } from "../activity/histogram.ts";
import {
  addCounts,
  type Counts,
  DAY_MS,
  KEPT_DAYS,
  NO_CALLS,
  type UsageFilter,
  type UsageKey,
  type UsageRow,
} from "../activity/usage.ts";
import { csvLine } from "../lib/csv.ts";
import {
  type ActivityHandler,
  type ActivityVisit,
  textIn,
  visitingActivity,
} from "./activity-visit.ts";
import { navFor, respondTo } from "./page-visitor.ts";
import { namesOf } from "./people-names.ts";
import { PERIODS, type UsageChoice, usageView } from "./view/usage-view.ts";

const SHOWN = 50;

export const showUsage: ActivityHandler = visitingActivity(async (visit) => {
  const { context } = visit;
  const choice = choiceOf(visit);
  const seesPeople = context.recorded !== "own";
  const filter = filterFor(choice);
  const sums = await context.activities.usage(
    seesPeople ? ["day", "server", "tool", "person"] : ["day", "server", "tool"],
    filter,
  );
  const shown = seesPeople ? sums.person.slice(0, SHOWN) : [];
  const { person } = choice;
  const ids = [...shown.map(({ key }) => key.person), ...(person === undefined ? [] : [person])];
  const names = await namesOf(context.auth, ids);
  const byDay = new Map(sums.day.map(({ key, ...counts }) => [key.day, counts]));
  const days = Array.from({ length: choice.days }, (_, n) => {
    const day = filter.from + n;
    return { day, ...(byDay.get(day) ?? NO_CALLS) };
  });
  const view = usageView({
    nav: navFor(visit.visitor, "activity"),
    recorded: context.recorded,
    choice,
    personName: person === undefined ? undefined : names.get(person),
    slugs: context.slugs,
    whole: days.reduce<Counts>(addCounts, NO_CALLS),
    days,
    servers: sums.server.map(({ key: { server }, ...counts }) => ({ server, ...counts })),
    tools: sums.tool.slice(0, SHOWN).map(({ key: { server, method, tool }, ...counts }) => {
      return { server, method, tool, ...counts };
    }),
    people: seesPeople
      ? shown.map(({ key: { person: id }, ...counts }) => {
          return { person: id, name: names.get(id) ?? id, ...counts };
        })
      : undefined,
    hasMoreTools: sums.tool.length > SHOWN,
    hasMorePeople: sums.person.length > SHOWN,
  });
  return respondTo(visit, view);
}, true);

/** @returns what an address asks for; who called is nobody's to ask where people see their own calls alone. */
function choiceOf({ query, context }: ActivityVisit): UsageChoice {
  const [server, tool] = [textIn(query, "server"), textIn(query, "tool")];
  const person = context.recorded === "own" ? undefined : textIn(query, "person");
  return {
    days: PERIODS.find((days) => String(days) === query.get("days")) ?? 30,
    ...(server !== undefined && { server }),
    ...(tool !== undefined && { tool }),
    ...(person !== undefined && { person }),
  };
}

function filterFor({ days, ...rest }: UsageChoice): UsageFilter {
  const today = Math.floor(Date.now() / DAY_MS);
  return { from: today - Math.min(days, KEPT_DAYS) + 1, ...rest };
}

const COLUMNS = ["day", "server", "method", "tool", "person"];
const NUMBERS = ["calls", "failed", "p50_ms_at_most", "p95_ms_at_most"];

export const downloadUsage: ActivityHandler = visitingActivity(async (visit) => {
  const { context, request } = visit;
  const choice = choiceOf(visit);
  const seesPeople = context.recorded !== "own";
  const rows = merged(context.activities.usageRows(filterFor(choice)), seesPeople);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const write = async (): Promise<void> => {
    const columns = COLUMNS.filter((name) => seesPeople || name !== "person");
    await writer.write(encoder.encode(csvLine([...columns, ...NUMBERS])));
    for await (const row of rows) await writer.write(encoder.encode(lineOf(row, seesPeople)));
    await writer.close();
  };
  // A reader that has gone ends the reading, too.
  write().catch((error: unknown) => writer.abort(error).catch(() => undefined));
  const name = `usage-${new URL(request.url).hostname}-${choice.days}-days.csv`;
  const headers = {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="${name.replaceAll(/[^\w.-]/g, "_")}"`,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
  return new Response(readable, { headers });
}, true);

/** Adds up neighbours of one key: of people who are not told apart, and of the objects that count them. */
async function* merged(
  rows: AsyncIterable<UsageRow>,
  seesPeople: boolean,
): AsyncGenerator<UsageRow, void, void> {
  let last: UsageRow | undefined;
  for await (const each of rows) {
    const row = seesPeople ? each : { ...each, person: "" };
    if (last !== undefined && isSameKey(last, row)) last = { ...last, ...addCounts(last, row) };
    else {
      if (last !== undefined) yield last;
      last = row;
    }
  }
  if (last !== undefined) yield last;
}

function isSameKey(one: UsageKey, other: UsageKey): boolean {
  const keys = ["day", "server", "method", "tool", "person"] as const;
  return keys.every((key) => one[key] === other[key]);
}

function lineOf(row: UsageRow, seesPeople: boolean): string {
  const { day, server, method, tool, person, calls, errors, buckets } = row;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  return csvLine([
    ...[date, server, method, tool],
    ...(seesPeople ? [person] : []),
    ...[calls, errors, bound(buckets, 0.5), bound(buckets, 0.95)],
  ]);
}

function bound(buckets: readonly number[], share: number): number | string {
  const ms = percentile(buckets, share) ?? 0;
  return ms === Infinity ? "more" : ms;
}
