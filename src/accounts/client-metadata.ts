/**
 * What the gateway says of itself to authorization servers that know it by the URL of a document (Client ID
 * Metadata Documents, draft-ietf-oauth-client-id-metadata-document section 4).
 */

import { callbackUrl, CLIENT_METADATA_PATH } from "./addresses.ts";

/** @param slugs of the servers whose authorization servers send a browser back. */
export function clientMetadata(origin: string, slugs: readonly string[]): object {
  return {
    // Section 3: the very URL of the document.
    client_id: origin + CLIENT_METADATA_PATH,
    client_name: `Edgeway (${new URL(origin).host})`,
    client_uri: `${origin}/`,
    redirect_uris: slugs.map((slug) => callbackUrl(origin, slug)),
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // It is public: PKCE and the redirect URI protect the code, and no secret stands here.
    token_endpoint_auth_method: "none",
    application_type: "web",
  };
}
