/** Slugs for servers that were pasted without one. */

import { MAX_SLUG, RESERVED, slugFrom } from "../clients/client-map.ts";

/** Words that tell no server from another. */
const GENERIC = /^(?:www|mcp|api|app|ai|sse|server|mcp-server|remote|gateway|com|io|github|)$/;
const FALLBACK = "server";

/** @returns a slug made of the first word of the host that says something. */
export function slugOfAddress(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  const isNumber = host.startsWith("[") || /^[\d.]+$/.test(host);
  const labels = isNumber ? [] : host.split(".");
  return suggested(labels.length > 1 ? labels.slice(0, -1) : labels);
}

/** @param name as in the official registry: a reversed domain, a slash, and the name there. */
export function slugOfName(name: string): string {
  const [domain = "", ...rest] = name.split("/");
  return suggested([rest.join("-"), ...domain.split(".").toReversed()]);
}

function suggested(words: readonly string[]): string {
  const [word = FALLBACK] = words.filter((each) => !GENERIC.test(each.toLowerCase()));
  const slug = slugFrom(word);
  return slug === undefined || slug === RESERVED ? FALLBACK : slug;
}

/** @returns the slug, with a number where another server has it. It is taken then. */
export function freeSlug(slug: string, taken: Set<string>): string {
  let free = slug;
  for (let n = 2; taken.has(free); n++)
    free = `${slug.slice(0, MAX_SLUG - 1 - `${n}`.length)}-${n}`;
  taken.add(free);
  return free;
}
