/**
 * Tickets of several servers in one log: whose a message is, and, for what belongs to no request,
 * where every other server can be taken up as well. The newest one says all, so nothing of it has
 * to be kept in memory.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isObject } from "../../protocol/json-rpc.ts";

interface Led {
  readonly slug: string;
  /** The server's own. */
  readonly ticket: string | undefined;
}

/** The server's ticket by its slug. */
type Places = ReadonlyMap<string, string>;

/** @param ticket the server's own; without one it leads to the server and no further. */
export function serverResumeToken(slug: string, ticket?: string): string {
  return JSON.stringify(ticket === undefined ? { s: slug } : { s: slug, t: ticket });
}

/** @param before the newest ticket of what belongs to no request. */
export function resumeTokenAmong(before: string | undefined, slug: string, ticket: string): string {
  const others = [...resumeTokensIn(before)].filter(([other]) => other !== slug);
  const places = others.length === 0 ? {} : { p: Object.fromEntries(others) };
  return JSON.stringify({ s: slug, t: ticket, ...places });
}

/** @returns `undefined` for what is none of these tickets. */
export function readServerResumeToken(text: string | undefined): Led | undefined {
  const value = tryJson(text ?? "");
  if (!isObject(value) || typeof value["s"] !== "string") return undefined;
  const { s: slug, t: ticket } = value;
  return { slug, ticket: typeof ticket === "string" ? ticket : undefined };
}

/** Where each server can be taken up. @param text the newest ticket of what belongs to no request. */
export function resumeTokensIn(text: string | undefined): Places {
  const value = tryJson(text ?? "");
  const led = readServerResumeToken(text);
  const others = isObject(value) && isObject(value["p"]) ? value["p"] : {};
  const places = Object.entries(others).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  if (led?.ticket !== undefined) places.push([led.slug, led.ticket]);
  return new Map(places);
}
