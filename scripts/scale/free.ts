/** What a day of the platform's free plan is enough for, as Markdown. Pure. */

import { gigabyteSeconds } from "./model.ts";
import {
  BEARER,
  callOf,
  type Cost,
  FEED_DAY,
  HELD_LEGACY,
  LEGACY_SESSION,
  listOf,
  plus,
  REFRESH,
  SIGN_IN,
  times,
} from "./operations.ts";
import { table, whole } from "./table.ts";

/** Read on 2026-11-23 in what these pages are made from; the first one is of Workers, the others of objects. */
const WORKERS = "https://developers.cloudflare.com/workers/platform/limits/";
const OBJECTS = "https://developers.cloudflare.com/durable-objects/platform/pricing/";

interface Allowance {
  readonly name: string;
  readonly aDay: number;
  readonly source: string;
  readonly of: (cost: Cost) => number;
}

const ALLOWANCES: readonly Allowance[] = [
  { name: "requests", aDay: 100_000, source: WORKERS, of: ({ requests }) => requests },
  {
    ...{ name: "requests of objects", aDay: 100_000, source: OBJECTS },
    of: ({ objectRequests }) => objectRequests,
  },
  { name: "GB-s of objects at work", aDay: 13_000, source: OBJECTS, of: gigabyteSeconds },
  { name: "rows written", aDay: 100_000, source: OBJECTS, of: ({ rowsWritten }) => rowsWritten },
  { name: "rows read", aDay: 5_000_000, source: OBJECTS, of: ({ rowsRead }) => rowsRead },
];

const OPERATIONS: readonly (readonly [string, Cost])[] = [
  ["Calls of clients of 2026-07-28, to servers of the same revision", call("modern", "modern")],
  ["The same, to older servers", call("modern", "legacy")],
  ["Calls of older clients", call("legacy", "modern")],
  ["Sessions of older clients, each with a list of tools", plus(LEGACY_SESSION, listOf(1), BEARER)],
  ["Streams that an older client opens, to be told of changes", plus(HELD_LEGACY, BEARER)],
  ["Hours for which one server is watched, because a client listens", times(1 / 24, FEED_DAY)],
  ["Sign-ins, each of an application that is new", SIGN_IN],
  ["Renewals of a token", REFRESH],
];

type Era = "legacy" | "modern";

function call(client: Era, server: Era): Cost {
  return plus(callOf(client, server, 1), BEARER);
}

/** Each line by itself: they share one day. */
export function freeTable(): string {
  const rows = OPERATIONS.map(([name, cost]) => {
    const [first] = ALLOWANCES.map((allowance) => ({
      allowance,
      times: allowance.aDay / allowance.of(cost),
    })).toSorted((a, b) => a.times - b.times);
    if (first === undefined) throw new Error("There is no allowance");
    const { name: what, aDay, source } = first.allowance;
    const enough = whole(Number(first.times.toPrecision(2)));
    return [name, enough, `[${whole(aDay)} ${what}](${source})`];
  });
  return table(["In a day", "At most", "What runs out first"], rows);
}
