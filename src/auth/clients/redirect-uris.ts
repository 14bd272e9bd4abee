/**
 * The redirect URIs that a client may list. A code is sent over https, over http to a loopback host
 * (RFC 8252 section 7.3), or to one of a few applications by the scheme that they are known for. A
 * client may list other URIs too: some list the private-use scheme of their desktop application
 * next to the URI that they use here, and refusing the list would shut them out. Those are kept and
 * never used.
 */

import { isLoopback } from "../../lib/loopback.ts";

export type RedirectKind =
  /** A server's: the browser goes to that host. */
  | "https"
  /** A program on the user's machine, on a port that it chooses when it runs. */
  | "loopback"
  /** A program on the user's machine that has no other way to get its answer. */
  | "application"
  /** May be listed; no code is sent there. */
  | "unused"
  /** May not even be listed. */
  | "refused";

const MAX_CHARS = 2048;
/** `URL` accepts more, like wildcards, and characters that have a meaning in lists of hosts. */
const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])$/i;
/** Schemes that run or open their content in the page of the user who follows them. */
const DANGEROUS: ReadonlySet<string> = new Set([
  ...["about:", "blob:", "data:", "file:", "filesystem:", "javascript:", "mailto:", "vbscript:"],
]);

/**
 * Redirect URIs with a private-use scheme (RFC 8252 section 7.1) that are used all the same, each
 * exactly as its maker documents it. Any program may claim such a scheme, so a code that goes there
 * is useless without the verifier (RFC 7636), and the person is asked each time.
 */
const APPLICATIONS: ReadonlySet<string> = new Set([
  // Cursor on the desktop, as of June 2026 (https://cursor.com/docs/mcp); newer ones use a port.
  "cursor://anysphere.cursor-mcp/oauth/callback",
]);

export function redirectKind(uri: string): RedirectKind {
  // Visible ASCII without backslashes: what a browser goes to is then what it reads like.
  if (uri.length > MAX_CHARS || !/^[\x21-\x7e]+$/.test(uri) || uri.includes("\\")) return "refused";
  // RFC 6749 section 3.1.2: no fragment, and an empty one is one too.
  const url = !uri.includes("#") && URL.canParse(uri) ? new URL(uri) : undefined;
  if (url === undefined || DANGEROUS.has(url.protocol)) return "refused";
  if (url.username !== "" || url.password !== "" || !HOST.test(url.hostname)) return "refused";
  const isHttps = url.protocol === "https:";
  // A program may have a certificate for a loopback host: it is still on the user's machine.
  if (isLoopback(url.hostname) && (isHttps || url.protocol === "http:")) return "loopback";
  if (isHttps) return "https";
  return APPLICATIONS.has(uri) ? "application" : "unused";
}

/** @returns whether a code may be sent to this URI, provided that the client lists it. */
export function isUsed(uri: string): boolean {
  const kind = redirectKind(uri);
  return kind !== "unused" && kind !== "refused";
}

export type RedirectProblem = "no-redirect-uris" | "bad-redirect-uri";

/** @returns what is wrong with a client's list; `undefined` when the list is acceptable. */
export function judgeRedirectUris(uris: readonly string[]): RedirectProblem | undefined {
  if (uris.length === 0) return "no-redirect-uris";
  const kinds = uris.map(redirectKind);
  if (kinds.includes("refused")) return "bad-redirect-uri";
  return kinds.every((kind) => kind === "unused") ? "bad-redirect-uri" : undefined;
}

/**
 * Hosts of well-known applications that receive authorizations on a server of their own. A browser
 * is redirected to them without a question when a request has failed, and they can register while
 * no other client may. Each is a redirect URI that the application is known to use, as of November
 * 2026.
 */
const KNOWN_HOSTS: ReadonlySet<string> = new Set([
  // https://claude.ai/api/mcp/auth_callback, on the web, the desktop and phones
  "claude.ai",
  "claude.com",
  // https://chatgpt.com/connector_platform_oauth_redirect and /connector/oauth/<id>
  "chatgpt.com",
  // https://vscode.dev/redirect, which hands on to the editor
  "vscode.dev",
  "insiders.vscode.dev",
  // https://www.cursor.com/agents/mcp/oauth/callback
  "www.cursor.com",
  // https://www.perplexity.ai/rest/connections/…
  "www.perplexity.ai",
]);

/**
 * @returns whether a redirect leads to a program on the user's own machine or to a well-known host.
 *   It does not show who sends the browser there: the client's own list does.
 */
export function isKnownRedirect(redirectUri: string): boolean {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url === undefined) return false;
  if (isLoopback(url.hostname) || redirectKind(redirectUri) === "application") return true;
  return url.protocol === "https:" && url.port === "" && KNOWN_HOSTS.has(url.hostname);
}
