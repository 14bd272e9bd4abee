/**
 * Requests for tokens of clients whose id is an address. Anybody can name any address here, so
 * nothing is loaded until the grant is known to be this client's: an address that nobody has ever
 * approved is never asked.
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
    // RFC 7009 section 2.2: what is no token, or not the client's, need not be revoked.
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

/** A client that says that it signs has to; one that also says that it does not, may. */
async function isAuthentic(
  context: AuthContext,
  request: TokenRequest,
  { tokenEndpointAuthMethods, clientAssertionKeys }: ClientRecord,
): Promise<boolean> {
  // It has no secret, so whoever sends one is not this client.
  if (request.authorization !== null || request.params.has("client_secret")) return false;
  if (!hasAssertion(request)) return tokenEndpointAuthMethods.includes("none");
  if (clientAssertionKeys === undefined) return false;
  return isSigned(context, request, clientAssertionKeys);
}
