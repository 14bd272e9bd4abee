/**
 * Hosts of well-known applications that receive authorizations on a server of their own. A browser
 * is redirected to them without a question when a request has failed, and they can register while
 * no other client may. Each is a redirect URI that the application is known to use, as of November
 * 2026.
 */

import { isLoopback } from "../../lib/loopback.ts";
import { redirectKind } from "./redirect-uris.ts";

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
