/** The target of an authorization, as a person has to judge it: the host, and its kind. */

import { isLoopback } from "../../lib/loopback.ts";

export type RedirectTarget =
  | { readonly kind: "web"; readonly place: string }
  /** RFC 8252 section 7.3: the program that listens on that port of the person's own machine. */
  | { readonly kind: "loopback"; readonly place: string }
  /** RFC 8252 section 7.1: the application that has claimed the scheme. */
  | { readonly kind: "application"; readonly place: string };

/** @param uri a validated URI; any other text is shown as it is. */
export function redirectTarget(uri: string): RedirectTarget {
  if (!URL.canParse(uri)) return { kind: "application", place: uri };
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:")
    return { kind: "application", place: protocol };
  return { kind: isLoopback(hostname) ? "loopback" : "web", place: host };
}
