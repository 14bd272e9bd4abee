/**
 * The guard in front of every route: which hosts and origins are served (DNS rebinding:
 * 2025-11-25 and 2026-07-28, MUST 403 an invalid Origin), and what a browser is told of it.
 */

import { isLoopback } from "../lib/loopback.ts";

export interface GuardPolicy {
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Without sign-in only this machine is served. */
  readonly isLoopbackOnly: boolean;
}

/** @returns a refusal in plain words, or `undefined` for a request that may pass. */
export function guard(request: Request, policy: GuardPolicy): Response | undefined {
  const url = new URL(request.url);
  const origin = request.headers.get("origin");
  if (origin !== null && !isAllowedOrigin(origin, url, policy)) {
    return plain(
      403,
      "This origin is not allowed here; an operator can add it to ALLOWED_ORIGINS.",
    );
  }
  if (policy.isLoopbackOnly && !isLoopback(url.hostname)) {
    return plain(
      503,
      'This gateway has no sign-in (AUTH_MODE is "none"), so it serves loopback hosts only, like http://localhost:8787.',
    );
  }
  if (policy.publicOrigin !== undefined && !isLoopback(url.hostname)) {
    if (url.host !== new URL(policy.publicOrigin).host) {
      return plain(403, "This host is not served here; PUBLIC_ORIGIN says which one is.");
    }
  }
  return undefined;
}

function isAllowedOrigin(
  origin: string,
  url: URL,
  { publicOrigin, allowedOrigins }: GuardPolicy,
): boolean {
  if (origin === publicOrigin || allowedOrigins.has(origin)) return true;
  // Tools on this machine, like an inspector on another port, may use a gateway on this machine.
  return isLoopback(url.hostname) && URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}

const ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS";
const EXPOSED_HEADERS = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate";
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

/** Lets the page that asked read the answer. */
export function addCors(request: Request, headers: Headers): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  headers.append("Vary", "Origin");
}

function plain(status: number, sentence: string): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
