/**
 * The resource identifier of a server (RFC 9728 section 3.3): metadata of another resource must not be
 * used, or one server could send people to the authorization server of another.
 */

/** How the resource that metadata names lies to the server's own address. */
export type ResourceRelation =
  /** It is the server, or a part of the origin that the server belongs to. */
  | "covers"
  /** It is a part of the server, as one tool of it may have. */
  | "within"
  | "other";

/**
 * Compares scheme, host and port as URLs, and the path by its segments as they are written. One trailing
 * slash counts for nothing.
 *
 * @param resource as the metadata has it.
 */
export function relateResource(resource: string, endpoint: URL): ResourceRelation {
  const [, written, query = ""] = WRITTEN.exec(resource) ?? [];
  if (written === undefined || DOT_SEGMENT.test(written) || !URL.canParse(resource)) return "other";
  if (new URL(resource).origin !== endpoint.origin) return "other";
  if (query !== "" && query !== endpoint.search) return "other";
  const [path, own] = [withoutSlash(written), withoutSlash(endpoint.pathname)];
  if (isWithin(own, path)) return "covers";
  return isWithin(path, own) ? "within" : "other";
}

/** Path and query: `URL` would resolve `..` and hide it. A resource has no fragment (RFC 8707 section 2). */
const WRITTEN = /^[a-z]+:\/\/[^/?#@\\\s]+([^?#\\\s]*)(\?[^#\\\s]*)?$/i;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
