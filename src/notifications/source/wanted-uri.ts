/**
 * Finds the wanted resource that an update belongs to. A server may name a part of the subscribed
 * resource (`ResourceUpdatedNotification`, all revisions): then the client is notified of the resource
 * that it subscribed to, which it can read, and of which there are no more than it asked for.
 */

/** A longer URI is not watched: no URI that people or models read is that long. In characters. */
export const MAX_URI_CHARS = 2048;
/** Total of the URIs watched at one server: a modern one gets them all in one request. In characters. */
export const MAX_URIS_CHARS = 1024 * 1024;
/** A longer URI in an update is ignored. It may exceed `MAX_URI_CHARS`, as a part of a wanted resource. */
const MAX_UPDATED_CHARS = 8192;
const BOUNDARIES = ["/", "?", "#"];
/** A URI of more levels is taken for an attempt to keep the gateway busy. */
const MAX_LEVELS = 64;

/** @returns the URI itself if it is wanted, else the longest wanted URI that it is a part of. */
export function wantedUriOf(uri: string, wanted: ReadonlySet<string>): string | undefined {
  if (wanted.has(uri)) return uri;
  if (uri.length > MAX_UPDATED_CHARS) return undefined;
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
