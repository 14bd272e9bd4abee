/**
 * The guard in front of every route checks the host and the Origin of a request (DNS rebinding:
 * 2025-11-25 and 2026-07-28, MUST 403 an invalid Origin). Any client can send the headers of a proxy
 * (`X-Forwarded-*`, `Forwarded`), so they can only get a request refused.
 */

import { isKnownRedirect } from "../auth/clients/redirect-uris.ts";
import { isLoopback } from "../lib/loopback.ts";
import { isSame } from "../lib/random.ts";
import { PATHS } from "../pages/view/paths.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { rpcError } from "./answers.ts";

export interface GuardPolicy {
  /** Without sign-in, only this machine is served. */
  readonly authMode: "oauth" | "none";
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  /** The launcher's secret, where the launcher's proxy stands in front. */
  readonly launcherKey?: string | undefined;
}

/** @returns the refusal, or `undefined` for a request that may pass. */
export function guard(request: Request, policy: GuardPolicy): Response | undefined {
  if (!isThroughLauncher(request.headers, policy)) {
    return plain(
      403,
      "This port is the gateway's own. Use the address that npm start has printed.",
    );
  }
  const url = new URL(request.url);
  const origin = request.headers.get("origin");
  const isForListed = origin !== null && callersOf(url, policy) === "listed";
  if (isForListed && !isListed(origin, url, policy)) {
    const message = "This origin is not allowed here; an operator can add it to ALLOWED_ORIGINS";
    return rpcError(403, { code: ErrorCode.Transport, message });
  }
  if (policy.authMode === "none") return judgeWithoutSignIn(request, url);
  return isLoopback(url.hostname) && isServedLocally(url, policy)
    ? undefined
    : judgePublicHost(request, url, policy);
}

/** The origins that may call a route: all, the listed ones, or only the gateway's own. */
type Callers = "all" | "listed" | "own";

/** The routes that a client needs before it has a token. They answer everyone alike and use no cookie. */
const OAUTH = /^\/(?:token|register|oauth\/client-metadata\.json|\.well-known\/.*)$/;
/**
 * The first path segments of the pages for people. Their forms check the Origin themselves, and no other
 * origin may read them.
 */
const PAGES: ReadonlySet<string | undefined> = new Set(
  ["/callback", ...Object.values(PATHS)].map((path) => path.split("/")[1]),
);

/** Pages that are there without sign-in, too. */
const LOCAL_PAGES = /^\/(?:connect|oauth\/upstream|catalog|admin)(?:\/|$)/;

function callersOf({ pathname }: URL, { authMode }: GuardPolicy): Callers {
  // Before the rest: browsers send no origin with a form of a page that sends no referrer.
  if (LOCAL_PAGES.test(pathname)) return "own";
  if (authMode === "none") return "listed";
  if (OAUTH.test(pathname)) return "all";
  return PAGES.has(pathname.split("/")[1]) ? "own" : "listed";
}

/** @param url the called URL. */
function isListed(
  origin: string,
  url: URL,
  { publicOrigin, allowedOrigins, authMode }: GuardPolicy,
): boolean {
  if (origin === publicOrigin || allowedOrigins.has(origin)) return true;
  // A tool on this machine, like an inspector on another port, may call a gateway on this machine.
  if (authMode === "none") return isLoopback(url.hostname) && isLoopback(hostOf(origin));
  // With sign-in, the token protects. Inspectors may call a gateway anywhere, and so may the web clients
  // that send the origin of their page: without them in the list, their users would be locked out.
  return isKnownRedirect(origin);
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}

/**
 * `wrangler dev` trusts an address that the client itself sends (`MF-Original-URL`), so no request is
 * served that bypassed the launcher's proxy (`scripts/reverse-proxy.mjs`).
 */
function isThroughLauncher(headers: Headers, { launcherKey }: GuardPolicy): boolean {
  return launcherKey === undefined || isSame(headers.get("edgeway-launcher") ?? "", launcherKey);
}

const NO_SIGN_IN = 'This gateway has no sign-in (AUTH_MODE is "none"), so it serves';

function judgeWithoutSignIn({ headers }: Request, { hostname }: URL): Response | undefined {
  if (!isLoopback(hostname)) {
    return plain(503, `${NO_SIGN_IN} loopback hosts only, like http://localhost:8787.`);
  }
  return isFromElsewhere(headers)
    ? plain(503, `${NO_SIGN_IN} this machine only, and this has come from another.`)
    : undefined;
}

/** True for a request from this machine, so that it comes from whoever runs the gateway here. */
export function isLocal({ url, headers }: Request): boolean {
  return isLoopback(new URL(url).hostname) && !isFromElsewhere(headers);
}

/** Headers with lists of addresses or hosts. The runtime sets the last one for the connection. */
const LISTS = ["x-forwarded-for", "x-real-ip", "x-forwarded-host", "cf-connecting-ip"];
/** RFC 7239 section 4: the client and the host. The other parameters do not name an origin. */
const FORWARDED = /(?:^|[;,])\s*(?:for|host)\s*=\s*("[^"]*"|[^;,]*)/gi;

/**
 * Recognizes a request from another machine. Tunnels and proxies replace their own host by a loopback
 * host, and would open this machine to the world. Their headers can be forged, so they only count
 * against a request.
 */
function isFromElsewhere(headers: Headers): boolean {
  const listed = LISTS.flatMap((name) => headers.get(name)?.split(",") ?? []);
  const forwarded = [...(headers.get("forwarded") ?? "").matchAll(FORWARDED)].map(
    ([, value = ""]) => value.replaceAll('"', ""),
  );
  return headers.has("cf-ray") || ![...listed, ...forwarded].every(isOfThisMachine);
}

/** @param node a host or an address, with or without a port, in brackets or not. */
function isOfThisMachine(node: string): boolean {
  const name = node.trim().toLowerCase();
  const [, host = name] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(name) ?? [];
  const address = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/, "");
  return isLoopback(address.includes(":") ? `[${address}]` : address);
}

/**
 * Any client can send a loopback host, so a gateway with a public host does not serve it. Only
 * `/health` is served there, for the program that starts the gateway and waits for its port.
 */
function isServedLocally({ pathname }: URL, { publicOrigin }: GuardPolicy): boolean {
  return (
    publicOrigin === undefined ||
    isLoopback(new URL(publicOrigin).hostname) ||
    pathname === "/health"
  );
}

function judgePublicHost(
  { method }: Request,
  url: URL,
  { publicOrigin }: GuardPolicy,
): Response | undefined {
  if (publicOrigin === undefined) {
    return plain(
      503,
      "PUBLIC_ORIGIN is not set. Set it to the address that clients use, like https://mcp.example.com.",
    );
  }
  const { host, protocol } = new URL(publicOrigin);
  if (url.host !== host) {
    return plain(421, "This host is not served here; PUBLIC_ORIGIN says which one is.");
  }
  if (url.protocol === protocol || protocol === "http:") return undefined;
  // A browser that was given no scheme is redirected. Any other request was readable on its way, and
  // serving it would hide that.
  return method === "GET" || method === "HEAD"
    ? Response.redirect(publicOrigin + url.pathname + url.search, 308)
    : plain(403, "This gateway is served over https only.");
}

const ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS";
const EXPOSED_HEADERS =
  "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, traceresponse";
const ALLOWED_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "content-type",
  "accept",
  "mcp-session-id",
  "mcp-protocol-version",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "traceparent",
  "tracestate",
]);

/** The answer to an `OPTIONS` request that the guard let pass. */
export function preflight(request: Request): Response {
  // A wildcard covers neither `Authorization` nor a prefix, so the names asked for are echoed.
  const requested = (request.headers.get("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter(
      (name) => ALLOWED_HEADERS.has(name) || /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name),
    );
  return new Response(null, {
    status: 204,
    headers: {
      Allow: ALLOWED_METHODS,
      "Access-Control-Allow-Methods": ALLOWED_METHODS,
      "Access-Control-Allow-Headers": [
        ...(requested.length > 0 ? requested : ALLOWED_HEADERS),
      ].join(", "),
      "Access-Control-Max-Age": "86400",
    },
  });
}

/** Lets the calling page read the response, unless the route is only for the gateway's own pages. */
export function addCors(request: Request, response: Response, policy: GuardPolicy): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  const callers = callersOf(new URL(request.url), policy);
  if (callers === "own") return;
  const { headers } = response;
  headers.set("Access-Control-Allow-Origin", callers === "all" ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  headers.append("Vary", "Origin");
}

function plain(status: number, sentence: string): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
