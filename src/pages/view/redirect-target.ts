/** Where an authorization goes to, as a person has to judge it: the host, and what kind it is. */

import { isLoopback } from "../../lib/loopback.ts";

export type RedirectTarget =
  | { readonly kind: "web"; readonly place: string }
  /** RFC 8252 section 7.3: whatever listens on that port of the person's own machine. */
  | { readonly kind: "loopback"; readonly place: string }
  /** RFC 8252 section 7.1: whatever application has claimed the scheme. */
  | { readonly kind: "application"; readonly place: string };

/** @param uri validated before; what is none is shown as it is. */
export function redirectTarget(uri: string): RedirectTarget {
  if (!URL.canParse(uri)) return { kind: "application", place: uri };
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:")
    return { kind: "application", place: protocol };
  return { kind: isLoopback(hostname) ? "loopback" : "web", place: host };
}
