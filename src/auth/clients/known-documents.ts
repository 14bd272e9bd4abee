/**
 * Copies of the metadata documents of well-known clients. Some of their servers answer requests
 * from data centres with a page for browsers or with a redirect, and then no user could sign in
 * with that client. A copy stands in when the document is not available, and never replaces one
 * that is.
 *
 * Each copy is the document of the given day, without the members that this server does not use,
 * and goes through the same checks as a loaded one.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";

/** The members that all of these share. */
const PUBLIC_CLIENT = {
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

const LOOPBACK_CALLBACKS = ["http://127.0.0.1/callback", "http://localhost/callback"];

const COPIES: readonly JsonObject[] = [
  {
    // Claude on the web, on the desktop and on phones. As served on 2026-09-21 and 2026-09-29.
    client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    client_name: "Claude",
    client_uri: "https://claude.ai",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    ...PUBLIC_CLIENT,
  },
  {
    // Claude Code. As served on 2026-09-21 and 2026-10-01.
    client_id: "https://claude.ai/oauth/claude-code-client-metadata",
    client_name: "Claude Code",
    client_uri: "https://claude.ai",
    redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
    ...PUBLIC_CLIENT,
  },
  {
    // ChatGPT, at servers that announce `iss` in authorization responses. As served on 2026-09-08
    // and 2026-09-21.
    client_id: "https://chatgpt.com/oauth/client.json",
    client_name: "ChatGPT",
    client_uri: "https://chatgpt.com/",
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
    ...PUBLIC_CLIENT,
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg: "RS256",
    jwks_uri: "https://chatgpt.com/oauth/jwks.json",
  },
  {
    // Codex, likewise. Redirect URIs and method as served on 2026-09-24.
    client_id: "https://chatgpt.com/oauth/codex/client.json",
    client_name: "Codex",
    redirect_uris: LOOPBACK_CALLBACKS,
    ...PUBLIC_CLIENT,
  },
  {
    // Visual Studio Code. As served on 2026-09-08 and 2026-09-21.
    client_id: "https://vscode.dev/oauth/client-metadata.json",
    client_name: "Visual Studio Code",
    client_uri: "https://vscode.dev/product",
    redirect_uris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
    ...PUBLIC_CLIENT,
  },
  {
    // Zed. As served on 2026-09-21.
    client_id: "https://zed.dev/oauth/client-metadata.json",
    client_name: "Zed",
    client_uri: "https://zed.dev",
    redirect_uris: ["http://127.0.0.1/callback"],
    ...PUBLIC_CLIENT,
  },
  {
    // OpenCode. As published with pull request 47737 of anomalyco/opencode, 2026-09-07.
    client_id: "https://opencode.ai/oauth/opencode/client.json",
    client_name: "opencode",
    client_uri: "https://opencode.ai",
    redirect_uris: LOOPBACK_CALLBACKS,
    ...PUBLIC_CLIENT,
  },
];

const BY_URL: ReadonlyMap<unknown, JsonObject> = new Map(
  COPIES.map((document) => [document["client_id"], document]),
);

/**
 * Older versions of Codex have a document for each MCP server: an id of 12 characters, made of the
 * server's address, is in the address of the document and in its redirect URIs. From OpenAI's
 * documentation of MCP in Codex, as of September 2026.
 */
const CODEX_OF_A_SERVER =
  /^https:\/\/chatgpt\.com\/oauth\/codex\/([A-Za-z0-9_-]{12})\/client\.json$/;

/** @returns the copy of the document at this address, if there is one. */
export function knownDocument(url: string): JsonObject | undefined {
  const [, id] = CODEX_OF_A_SERVER.exec(url) ?? [];
  if (id === undefined) return BY_URL.get(url);
  const redirectUris = LOOPBACK_CALLBACKS.map((callback) => `${callback}/${id}`);
  return { client_id: url, client_name: "Codex", redirect_uris: redirectUris, ...PUBLIC_CLIENT };
}

/** The addresses of all copies that have a fixed one. */
export const KNOWN_URLS: readonly unknown[] = [...BY_URL.keys()];
