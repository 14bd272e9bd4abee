/**
 * The responses that people see. Every page has the same headers for every caller: it cannot be
 * framed, loads nothing, runs only the script that it contains, is not stored, and sends no
 * referrer to other sites.
 */

import { toBase64Url } from "../lib/base64url.ts";
import { isLoopback } from "../lib/loopback.ts";
import { layout, scriptsOf, type View } from "./view/layout.ts";
import { notFoundView } from "./view/problem-view.ts";

export interface PageOptions {
  /** Of the gateway. */
  readonly origin: string;
  readonly status?: number;
  /**
   * The possible targets of the response to a form of this page, beside the gateway itself: sources
   * from `formActionsFor`. `omit` leaves the directive out, for an identity provider that redirects
   * on to unknown hosts.
   */
  readonly formActions?: readonly string[] | "omit";
  /** More of them, cookies say; those that every page has are not for it to change. */
  readonly headers?: Headers;
}

const NONCE_BYTES = 16;
const YEAR_SECONDS = 365 * 24 * 60 * 60;
const UNUSED_FEATURES = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "usb",
];

export function page(view: View, options: PageOptions): Response {
  const { text, headers } = renderPage(view, options);
  return new Response(text, { status: options.status ?? 200, headers });
}

/** A page as text, with its headers. */
export function renderPage(
  view: View,
  options: PageOptions,
): { readonly text: string; readonly headers: Headers } {
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const headers = withCommon(options);
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentPolicy(view, options, nonce));
  headers.set("X-Frame-Options", "DENY");
  headers.set("Permissions-Policy", UNUSED_FEATURES.map((name) => `${name}=()`).join(", "));
  // A client may have opened a page on the way to it in a window of its own, and wait for that
  // window to come back. Every value but this one cuts the tie, `same-origin-allow-popups` too:
  // that one is for pages that open others.
  const opener = view.kind === "login" ? "unsafe-none" : "same-origin";
  headers.set("Cross-Origin-Opener-Policy", opener);
  return { text: layout(view, nonce).toString(), headers };
}

/**
 * The same response for things that never existed, that are gone, and that belong to another user.
 */
export function notFound({ origin }: Pick<PageOptions, "origin">): Response {
  return page(notFoundView(), { origin, status: 404 });
}

/**
 * RFC 9700 section 4.12: 303, so that what a form had in it is not sent on.
 *
 * @param location a path of the gateway, or a URL that was checked.
 */
export function seeOther(
  location: string,
  options: Pick<PageOptions, "origin" | "headers">,
): Response {
  const headers = withCommon(options);
  headers.set("Location", location);
  return new Response(null, { status: 303, headers });
}

function withCommon({ origin, headers: own }: Pick<PageOptions, "origin" | "headers">): Headers {
  const headers = new Headers(own);
  headers.set("Cache-Control", "no-store");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("X-Content-Type-Options", "nosniff");
  // RFC 6797 section 7.2: not over plain HTTP. Other hosts of the domain are not ours to bind.
  if (origin.startsWith("https:")) {
    headers.set("Strict-Transport-Security", `max-age=${YEAR_SECONDS}`);
  }
  return headers;
}

function contentPolicy(view: View, { formActions = [] }: PageOptions, nonce: string): string {
  const directives = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  if (view.hasSound === true) directives.push("media-src data:");
  if (scriptsOf(view).length > 0) directives.push(`script-src 'nonce-${nonce}'`);
  if (view.isLive === true) directives.push("connect-src 'self'");
  if (formActions !== "omit") {
    directives.push(["form-action 'self'", ...new Set(formActions)].join(" "));
  }
  return directives.join("; ");
}

/**
 * The sources of a page's `form-action`. Chromium and Safari apply it to every redirect after a
 * form was sent (CSP3 section 6.4.1.1), and block an unlisted one without a message to the person:
 * so it lists the possible targets of the response, which are the client and the identity provider.
 *
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
