/**
 * The guard in front of every route: which hosts are served, and which pages may call (DNS
 * rebinding: 2025-11-25 and 2026-07-28, MUST 403 an invalid Origin). Anybody can send what a proxy
 * says of a request (`X-Forwarded-*`, `Forwarded`), so nothing of it is believed, unless it speaks
 * against the request.
 */

import { isLoopback } from "../lib/loopback.ts";
import { isSame } from "../lib/random.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { rpcError } from "./answers.ts";
import { callersOf, type GuardPolicy, isListed } from "./callers.ts";
import { isFromElsewhere } from "./from-elsewhere.ts";

/** @returns a refusal, or `undefined` for a request that may pass. */
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
  if (policy.isLoopbackOnly) return judgeWithoutSignIn(request, url);
  return isLoopback(url.hostname) && isServedLocally(url, policy)
    ? undefined
    : judgePublicHost(request, url, policy);
}

/**
 * `wrangler dev` believes the address that a client makes up for its request (`MF-Original-URL`),
 * so nothing is served that went past the launcher's proxy (`scripts/reverse-proxy.mjs`).
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

/**
 * Anybody can send a loopback host, so it is none of a gateway that has a public one. Whatever
 * starts such a gateway asks its port whether it is up, and is told that and no more.
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
  // A browser that was given no scheme is led on. Whatever else came was readable on its way, and
  // doing what it says would hide that.
  return method === "GET" || method === "HEAD"
    ? Response.redirect(publicOrigin + url.pathname + url.search, 308)
    : plain(403, "This gateway is served over https only.");
}

const ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS";
const EXPOSED_HEADERS = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After";
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

/** The answer to `OPTIONS`, for a request that the guard let pass. */
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

/** Lets the page that asked read the answer, unless the answer is for our own pages alone. */
export function addCors(request: Request, headers: Headers, policy: GuardPolicy): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  const callers = callersOf(new URL(request.url), policy);
  if (callers === "own") return;
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
