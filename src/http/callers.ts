/** Which pages in a browser may call which route, told by the `Origin` that the browser sends. */

import { isKnownRedirect } from "../auth/clients/known-hosts.ts";
import { isLoopback } from "../lib/loopback.ts";
import { PATHS } from "../pages/view/paths.ts";

export interface GuardPolicy {
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Without sign-in only this machine is served. */
  readonly isLoopbackOnly: boolean;
  /** Where the launcher stands in front, what it says to be known by. */
  readonly launcherKey?: string | undefined;
}

/** All, those that are listed, or those of our own alone. */
export type Callers = "all" | "listed" | "own";

/** What a client needs before it has a token. It is the same for everybody, and no cookie counts. */
const OAUTH = /^\/(?:token|register|\.well-known\/.*)$/;
/**
 * What people see, by the first part of its path. Its forms look at the Origin themselves, and
 * nothing of it is read from outside.
 */
const PAGES: ReadonlySet<string | undefined> = new Set(
  ["/callback", ...Object.values(PATHS)].map((path) => path.split("/")[1]),
);

export function callersOf({ pathname }: URL, { isLoopbackOnly }: GuardPolicy): Callers {
  if (isLoopbackOnly) return "listed";
  if (OAUTH.test(pathname)) return "all";
  return PAGES.has(pathname.split("/")[1]) ? "own" : "listed";
}

/** @param url what is called. */
export function isListed(
  origin: string,
  url: URL,
  { publicOrigin, allowedOrigins, isLoopbackOnly }: GuardPolicy,
): boolean {
  if (origin === publicOrigin || allowedOrigins.has(origin)) return true;
  // Tools on this machine, like an inspector on another port, may use a gateway on this machine.
  if (isLoopbackOnly) return isLoopback(url.hostname) && isLoopback(hostOf(origin));
  // With sign-in it is the token that protects: an inspector may use a gateway anywhere, and so may
  // the web clients that send the origin of their page. A list without them shuts their users out.
  return isKnownRedirect(origin);
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
