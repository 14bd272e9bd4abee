/** The tables of `docs/design/scale.md`, as Markdown. Pure. */

import { metAt, PLACES } from "./limits.ts";
import { MIX, mixInWords, USERS } from "./mix.ts";
import { type Bill, type Day, dayOf, gigabyteSeconds } from "./model.ts";
import { table, whole } from "./table.ts";

const DAYS = USERS.map((users) => dayOf(users, MIX));
/** A limit is worth a look from here on: with more users than that, the model says little. */
const FAR = 100_000_000;

export function mixTable(): string {
  return table(["Assumed", ""], mixInWords(MIX));
}

/** What is done in a day, and what the platform charges in a month. */
export function dayTable(): string {
  const counts: readonly [string, (day: Day) => number][] = [
    ["Sessions", ({ sessions }) => sessions],
    ["Calls", ({ calls }) => calls],
    ["Streams held at once, in the busiest hour", ({ held }) => held.legacy + held.modern],
    ["Requests of the Worker", ({ total }) => total.requests],
    ["Requests of objects", ({ total }) => total.objectRequests],
    ["Rows written", ({ total }) => total.rowsWritten],
    ["Rows read", ({ total }) => total.rowsRead],
    ["GB-s of objects at work", ({ total }) => gigabyteSeconds(total)],
    ["Objects made", ({ total }) => total.objectsMade],
  ];
  const dollars: readonly [string, keyof Bill][] = [
    ["requests of the Worker", "requests"],
    ["processor time of the Worker", "cpu"],
    ["requests of objects", "objectRequests"],
    ["objects at work", "objectDuration"],
    ["rows", "rows"],
    ["storage, after a year", "storage"],
    ["**all**", "sum"],
  ];
  return table(
    ["In a day", ...USERS.map((users) => `${whole(users)} users`)],
    [
      ...counts.map(([name, of]) => [name, ...DAYS.map((day) => whole(of(day)))] as const),
      ...dollars.map(
        ([name, of]) =>
          [`$ a month: ${name}`, ...DAYS.map((day) => whole(day.dollarsPerMonth[of]))] as const,
      ),
      [
        "$ a month for a user",
        ...DAYS.map((day) => (day.dollarsPerMonth.sum / day.users).toFixed(3)),
      ],
    ],
  );
}

/** Where the work comes from, of the largest day. */
export function partsTable(): string {
  const day = DAYS.at(-1);
  const rows = (day?.parts ?? []).map(({ name, cost }) => [
    ...[name, whole(cost.requests), whole(cost.objectRequests)],
    ...[whole(cost.rowsWritten), whole(gigabyteSeconds(cost))],
  ]);
  const headings = ["Part", "requests", "requests of objects", "rows written", "GB-s"];
  return table(headings, rows);
}

export function limitsTable(): string {
  const rows = PLACES.map((limit) => {
    const loads = DAYS.map((day) => rounded(limit.load(day, MIX)));
    const [day] = DAYS;
    const users = day === undefined ? Infinity : metAt(limit, day, MIX);
    return [
      limit.name,
      `[${whole(limit.most)} ${limit.of}](${limit.source})`,
      ...loads,
      usersInWords(users),
    ];
  });
  return table(["Where", "Limit", ...USERS.map((users) => whole(users)), "Met at, users"], rows);
}

function usersInWords(users: number): string {
  if (users > FAR) return `above ${whole(FAR)}`;
  const text = whole(Number(users.toPrecision(2)));
  return users < (USERS.at(-1) ?? 0) ? `**${text}**` : text;
}

/** Two digits, of what may be small. */
function rounded(value: number): string {
  return value >= 10 ? whole(value) : String(Number(value.toPrecision(2)));
}
