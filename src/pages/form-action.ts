/**
 * The sources of a page's `form-action`. Chromium and Safari apply it to every redirect after a
 * form was sent (CSP3 section 6.4.1.1), and block an unlisted one without a message to the person:
 * so it lists the possible targets of the response, which are the client and the identity provider.
 */

import { isLoopback } from "../lib/loopback.ts";

/**
 * @param url a redirect URI: the client's registered one, or the identity provider's.
 * @returns sources in the grammar of CSP (section 2.3.1).
 */
export function formActionsFor(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { protocol, origin, hostname } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return [protocol];
  // The grammar has no IPv6 addresses: browsers ignore them, so only the scheme can be listed.
  if (hostname.startsWith("[")) return [protocol];
  if (!isLoopback(hostname)) return [origin];
  // Another port than the registered one is equally valid (RFC 8252 section 7.3).
  const hosts = new Set([hostname, "127.0.0.1", "localhost"]);
  return Array.from(hosts, (host) => `${protocol}//${host}:*`);
}
