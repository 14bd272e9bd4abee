/** Slugs for servers that were pasted without one. */

import { RESERVED, slugFrom } from "../clients/client-map.ts";

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

function suggested(words: readonly string[]): string {
  const [word = FALLBACK] = words.filter((each) => !GENERIC.test(each.toLowerCase()));
  const slug = slugFrom(word);
  return slug === undefined || slug === RESERVED ? FALLBACK : slug;
}
