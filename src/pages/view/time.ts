/** Points in time, in words: how long ago, with the exact time in a tooltip. */

import { lazy } from "../../lib/lazy.ts";
import { type Html, html } from "./html.ts";

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
];
/** At a greater distance, a date is clearer. */
const MAX_SECONDS = 30 * 24 * 60 * 60;

/**
 * Created on first use: loading the words of a language takes longest of all that modules do at
 * start.
 */
const relative = lazy(() => new Intl.RelativeTimeFormat("en", { numeric: "auto" }));
const date = lazy(() => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" }));
const exact = lazy(
  () =>
    new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
);

const dayOnly = lazy(
  () => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }),
);
const second = lazy(
  () =>
    new Intl.DateTimeFormat("en-GB", {
      ...({ day: "numeric", month: "short", timeZone: "UTC" } as const),
      ...({ hour: "2-digit", minute: "2-digit", second: "2-digit" } as const),
    }),
);

/**
 * @param at milliseconds since the epoch, past or future. @param now the time from which it is
 *   measured.
 */
export function inWords(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  if (Math.abs(seconds) > MAX_SECONDS) return date().format(at);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative().format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

/** The reader's time zone is not known without a script, so the text names the one that is used. */
export function inFull(at: number): string {
  return `${exact().format(at)} UTC`;
}

export function when(at: number, now: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${inFull(at)}"
    >${inWords(at, now)}</time
  >`;
}

/** For lists of what happened within days, to be compared line by line; the zone stands above them. */
export function toTheSecond(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${second().format(at)}</time>`;
}

/** `23 Nov`, for charts and tables of days. */
export function onDay(at: number): string {
  return dayOnly().format(at);
}

export function exactly(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${inFull(at)}</time>`;
}
