/** Decides by the `Origin` header which web pages may call a route. */

import { isKnownRedirect } from "../auth/clients/redirect-uris.ts";
import { isLoopback } from "../lib/loopback.ts";
import { PATHS } from "../pages/view/paths.ts";

export interface GuardPolicy {
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Without sign-in, only this machine is served. */
  readonly isLoopbackOnly: boolean;
  /** The launcher's secret, where the launcher's proxy stands in front. */
  readonly launcherKey?: string | undefined;
}

/** The origins that may call a route: all, the listed ones, or only the gateway's own. */
export type Callers = "all" | "listed" | "own";

/** The routes that a client needs before it has a token. They answer everyone alike and use no cookie. */
const OAUTH = /^\/(?:token|register|\.well-known\/.*)$/;
/**
 * The first path segments of the pages for people. Their forms check the Origin themselves, and no other
 * origin may read them.
 */
const PAGES: ReadonlySet<string | undefined> = new Set(
  ["/callback", ...Object.values(PATHS)].map((path) => path.split("/")[1]),
);

export function callersOf({ pathname }: URL, { isLoopbackOnly }: GuardPolicy): Callers {
  if (isLoopbackOnly) return "listed";
  if (OAUTH.test(pathname)) return "all";
  return PAGES.has(pathname.split("/")[1]) ? "own" : "listed";
}

/** @param url the called URL. */
export function isListed(
  origin: string,
  url: URL,
  { publicOrigin, allowedOrigins, isLoopbackOnly }: GuardPolicy,
): boolean {
  if (origin === publicOrigin || allowedOrigins.has(origin)) return true;
  // A tool on this machine, like an inspector on another port, may call a gateway on this machine.
  if (isLoopbackOnly) return isLoopback(url.hostname) && isLoopback(hostOf(origin));
  // With sign-in, the token protects. Inspectors may call a gateway anywhere, and so may the web clients
  // that send the origin of their page: without them in the list, their users would be locked out.
  return isKnownRedirect(origin);
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
