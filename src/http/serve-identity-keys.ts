/** `/.well-known/jwks.json`: the keys with which servers verify identity assertions (RFC 7517 section 5). */

import type { IdentityKeys } from "../accounts/assertion/identity-keys.ts";

const HEADERS = {
  "Content-Type": "application/jwk-set+json",
  "Cache-Control": "public, max-age=3600",
};

export async function serveIdentityKeys(keys: IdentityKeys, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return new Response(null, { status: 405, headers: { Allow: "GET, HEAD, OPTIONS" } });
  }
  const body = JSON.stringify({ keys: await keys.published() });
  return new Response(request.method === "HEAD" ? null : body, { headers: HEADERS });
}
