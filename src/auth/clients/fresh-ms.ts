/**
 * @returns the freshness lifetime of a document in milliseconds: as its server declares it (RFC
 *   9111, 5.2.2), within our bounds.
 */

const MINUTE_MS = 60_000;
/** No server is asked more often than this, whatever it declares. */
const LEAST_MS = 5 * MINUTE_MS;
const USUAL_MS = 60 * MINUTE_MS;
/** A client that changes its keys or redirect URIs is known by them within a day. */
const MOST_MS = 24 * 60 * MINUTE_MS;

export function freshMs(headers: Headers): number {
  const directives = (headers.get("cache-control") ?? "")
    .split(",")
    .map((directive) => directive.trim().toLowerCase());
  if (directives.some((name) => /^(?:no-cache|no-store|private)\b/.test(name))) return LEAST_MS;
  const seconds = age(directives, "s-maxage") ?? age(directives, "max-age");
  if (seconds === undefined) return USUAL_MS;
  return Math.min(Math.max(seconds * 1000, LEAST_MS), MOST_MS);
}

function age(directives: readonly string[], name: string): number | undefined {
  const value = directives.find((directive) => directive.startsWith(`${name}=`));
  const [, digits] = /="?(\d+)"?$/.exec(value ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}
