/**
 * The authorization server's metadata (RFC 8414): the library's own answer, corrected where this
 * server supports more than the library knows, and without the list of resources, which would
 * reveal the names of all upstreams.
 *
 * It is served at one address. Some clients also ask at
 * `/.well-known/oauth-authorization-server/mcp`, as if the endpoint were an issuer. An answer there
 * has an issuer that does not match the address, which a strict client MUST refuse (RFC 8414
 * section 3.3) and then gives up; after a 404 each of them goes on to the right address.
 */

import type { AuthContext } from "../../context/context.ts";
import { SIGNING_ALGORITHMS } from "../../clients/document-keys.ts";
import type { Authority, AuthorityEnv } from "../engine/authority.ts";
import { oauthMethodNotAllowed } from "./oauth-http.ts";

const PATH = "/.well-known/oauth-authorization-server";
const HEADERS = { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" };

/** The metadata by authority: an authority never changes. */
const made = new WeakMap<Authority, string>();

export async function serveMetadata(context: AuthContext, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return oauthMethodNotAllowed("GET, HEAD, OPTIONS");
  }
  const { authority, engine } = context;
  const body = made.get(authority) ?? (await make(authority, engine));
  made.set(authority, body);
  return new Response(request.method === "HEAD" ? null : body, { headers: HEADERS });
}

async function make(authority: Authority, engine: AuthorityEnv): Promise<string> {
  const answer = await authority.fetch(new Request(authority.origin + PATH), engine);
  const {
    protected_resources: _,
    grant_types_supported: grantTypes = [],
    token_endpoint_auth_methods_supported: methods = [],
    ...metadata
  } = await answer.json<Record<string, unknown> & Partial<Record<string, readonly string[]>>>();
  const all = [...methods, "private_key_jwt"];
  return JSON.stringify({
    ...metadata,
    grant_types_supported: [...grantTypes, "client_credentials"],
    token_endpoint_auth_methods_supported: all,
    token_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
    // Without these two, clients assume `client_secret_basic` alone (RFC 8414 section 2).
    revocation_endpoint_auth_methods_supported: all,
    revocation_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
    client_id_metadata_document_supported: true,
  });
}
