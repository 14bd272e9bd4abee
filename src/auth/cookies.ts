/**
 * Cookies of the gateway's pages. Each has the `__Host-` prefix (RFC 6265bis section 4.1.3.2), so
 * no other host of the domain can have set it; and no endpoint that accepts tokens reads any of
 * them.
 */

const NAME_AND_VALUE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([!#-+\--:<-[\]-~]*)$/;
const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** Oldest first, as browsers send them. */
export function readCookies(request: Request): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [, name, value = ""] = NAME_AND_VALUE.exec(pair.trim()) ?? [];
    if (name !== undefined && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

/** `Lax`, not `Strict`: the browser has to send it when a provider redirects back. */
export function cookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`;
}

export function noCookie(name: string): string {
  return cookie(name, "", 0);
}
