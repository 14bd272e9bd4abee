/**
 * Token requests of clients whose id is a URL. Anyone can name any URL here, so no document is
 * loaded until the grant is known to be this client's: a URL that no user has approved is never
 * fetched.
 */

import type { AuthContext } from "../../context/context.ts";
import { credentialField } from "../grants/token-form.ts";
import type { ClientRecord } from "../../clients/client-document.ts";
import { invalidClient, oauthError, tooManyRequests } from "./oauth-error.ts";
import { hasAssertion, isSigned } from "./token-assertion.ts";
import { asVerifiedRequest, type TokenRequest } from "./token-request.ts";

export async function tokenOfDocument(
  context: AuthContext,
  request: TokenRequest,
): Promise<Response> {
  const { clientId, grantType, subject } = request.form;
  const field = credentialField(grantType);
  const isRevocation = grantType === "" && request.params.has("token");
  if (field === undefined || (grantType === "" && !isRevocation)) {
    return oauthError("unsupported_grant_type", "Grant type not supported");
  }
  const shard = context.store.ofUser(subject?.user ?? "");
  if (subject === undefined || !(await shard.grants.isOf(clientId, subject))) {
    // RFC 7009 section 2.2: an invalid token, or one of another client, needs no revocation.
    if (isRevocation) return new Response(null);
    return oauthError("invalid_grant", "Grant not found or authorization code expired");
  }
  const outcome = await context.store.ofDocument(clientId).documents.load(clientId);
  switch (outcome.kind) {
    case "busy":
      return tooManyRequests("Too many documents of clients", outcome.retryAfterSeconds);
    case "refused":
      return invalidClient("Client not found");
    case "client":
      if (!(await isAuthentic(context, request, outcome.client))) {
        return invalidClient("Client authentication failed");
      }
      return shard.token(asVerifiedRequest(request, context.origin));
  }
}

/** A client whose document lists only signing must sign; one that also lists `none` may. */
async function isAuthentic(
  context: AuthContext,
  request: TokenRequest,
  { tokenEndpointAuthMethods, clientAssertionKeys }: ClientRecord,
): Promise<boolean> {
  // This client has no secret, so a request with one comes from another.
  if (request.authorization !== null || request.params.has("client_secret")) return false;
  if (!hasAssertion(request)) return tokenEndpointAuthMethods.includes("none");
  if (clientAssertionKeys === undefined) return false;
  return isSigned(context, request, clientAssertionKeys);
}
