/** The gateway's own addresses that people and authorization servers are given. */

export const CLIENT_METADATA_PATH = "/oauth/client-metadata.json";
/** A document never changes its method, so the one with a key is another (RFC 7591 section 2). */
export const CLIENT_METADATA_JWT_PATH = "/oauth/client-metadata-jwt.json";
export const CLIENT_KEYS_PATH = "/oauth/jwks.json";

/** @param ask the handle of a link that was given out for one person. */
export function connectPath(slug: string, ask?: string): string {
  const path = `/connect/${encodeURIComponent(slug)}`;
  return ask === undefined ? path : `${path}?e=${encodeURIComponent(ask)}`;
}

export function connectUrl(origin: string, slug: string, ask?: string): string {
  return origin + connectPath(slug, ask);
}

/**
 * The redirect URI: another one for each server, so that an answer of one authorization server cannot be
 * taken for that of another where there is no `iss` (RFC 9700 section 4.4.2).
 */
export function callbackUrl(origin: string, slug: string): string {
  return `${origin}/oauth/upstream/${encodeURIComponent(slug)}/callback`;
}
