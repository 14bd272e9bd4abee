/** Points in time, in words: how long ago, with the exact time for whoever asks for it. */

import { lazy } from "../../lib/lazy.ts";
import { type Html, html } from "./html.ts";

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
];
/** Further away, a date says more. */
const MAX_SECONDS = 30 * 24 * 60 * 60;

/** Made on first use: of all that modules would do at every start, to load the words of a language takes longest. */
const relative = lazy(() => new Intl.RelativeTimeFormat("en", { numeric: "auto" }));
const date = lazy(() => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" }));
const exact = lazy(
  () =>
    new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
);

/** @param at milliseconds since the epoch, past or to come. @param now what it is measured from. */
export function inWords(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  if (Math.abs(seconds) > MAX_SECONDS) return date().format(at);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative().format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

/** The time zone of who reads is not known without a script, so it is said which one this is. */
export function inFull(at: number): string {
  return `${exact().format(at)} UTC`;
}

export function when(at: number, now: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${inFull(at)}"
    >${inWords(at, now)}</time
  >`;
}

export function exactly(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${inFull(at)}</time>`;
}
