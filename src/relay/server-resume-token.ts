/**
 * Resume tokens of several servers in one log. A token names the server of a message. On the standalone
 * stream it also has the place at which every other server can be resumed, so the newest token has all
 * places, and none is kept in memory.
 */

import { tryJson } from "../lib/try-json.ts";
import { isObject } from "../protocol/json-rpc.ts";

interface Led {
  readonly slug: string;
  /** The server's own resume token. */
  readonly resumeToken: string | undefined;
}

/** Each server's own resume token, by its slug. */
type Places = ReadonlyMap<string, string>;

/** @param own the server's own token; without one the result leads to the server only. */
export function serverResumeToken(slug: string, own?: string): string {
  return JSON.stringify(own === undefined ? { s: slug } : { s: slug, t: own });
}

/** @param before the newest resume token of the standalone stream. */
export function resumeTokenAmong(before: string | undefined, slug: string, own: string): string {
  return write({ slug, resumeToken: own }, resumeTokensIn(before));
}

/**
 * The newest resume token of the standalone stream, with the place at which another server can be resumed. It
 * goes on leading to the message that it belongs to, which may be a question that has no answer yet.
 */
export function resumeTokenWith(newest: string | undefined, slug: string, own: string): string {
  const led = readServerResumeToken(newest);
  if (led === undefined || led.slug === slug) return resumeTokenAmong(newest, slug, own);
  return write(led, new Map(resumeTokensIn(newest)).set(slug, own));
}

function write({ slug, resumeToken }: Led, places: Places): string {
  const others = [...places].filter(([other]) => other !== slug);
  const kept = others.length === 0 ? {} : { p: Object.fromEntries(others) };
  return JSON.stringify({ s: slug, t: resumeToken, ...kept });
}

/** @returns `undefined` for a text that is no such token. */
export function readServerResumeToken(text: string | undefined): Led | undefined {
  const value = tryJson(text ?? "");
  if (!isObject(value) || typeof value["s"] !== "string") return undefined;
  const { s: slug, t: own } = value;
  return { slug, resumeToken: typeof own === "string" ? own : undefined };
}

/** The place to resume each server from. @param text the newest resume token of the standalone stream. */
export function resumeTokensIn(text: string | undefined): Places {
  const value = tryJson(text ?? "");
  const led = readServerResumeToken(text);
  const others = isObject(value) && isObject(value["p"]) ? value["p"] : {};
  const places = Object.entries(others).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  if (led?.resumeToken !== undefined) places.push([led.slug, led.resumeToken]);
  return new Map(places);
}
