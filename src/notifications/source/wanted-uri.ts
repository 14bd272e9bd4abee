/**
 * Which of the wanted resources a server means. It may speak of a part of what was subscribed to
 * (`ResourceUpdatedNotification`, all revisions): then the client is told of what it subscribed to,
 * which it can read, and of which there are no more than it asked for.
 */

/** A longer one is not watched: nothing that is read by people or models is. */
export const MAX_URI_CHARS = 2048;
/** All that a server is watched for: a modern one is sent them all in one request. */
export const MAX_URIS_CHARS = 1024 * 1024;
/** A longer one that a server speaks of is not looked at: it may be of a part of what is wanted. */
const MAX_SAID_CHARS = 8192;
const BOUNDARIES = ["/", "?", "#"];
/** A URI of more levels is of somebody who wants to keep us busy. */
const MAX_LEVELS = 64;

/** @returns the very URI if it is wanted, else the longest that it is a part of. */
export function wantedUriOf(uri: string, wanted: ReadonlySet<string>): string | undefined {
  if (wanted.has(uri)) return uri;
  if (uri.length > MAX_SAID_CHARS) return undefined;
  let levels = 0;
  for (let end = uri.length - 1; end > 0 && levels < MAX_LEVELS; end--) {
    if (!BOUNDARIES.includes(uri.charAt(end))) continue;
    levels += 1;
    const withBoundary = uri.slice(0, end + 1);
    if (wanted.has(withBoundary)) return withBoundary;
    const without = uri.slice(0, end);
    if (wanted.has(without)) return without;
  }
  return undefined;
}
