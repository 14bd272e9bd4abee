/**
 * Token requests of clients whose id is a URL. Anyone can name any URL here, so no document is
 * loaded until the grant is known to be this client's: a URL that no user has approved is never
 * fetched.
 */

import { ASSERTION_TYPE, verifyClientAssertion } from "../../clients/client-assertion.ts";
import type { ClientRecord } from "../../clients/client-document.ts";
import type { AssertionKeys } from "../../clients/document-keys.ts";
import type { AuthContext } from "../../context/context.ts";
import type { TokenReason } from "../../trace/trace.ts";
import type { TokenAnswer } from "../grants/grant-token-endpoint.ts";
import { TokenRequest } from "../grants/token-request.ts";
import { invalidClient, oauthError, tooManyRequests } from "./oauth-http.ts";

export async function tokenOfDocument(
  context: AuthContext,
  request: TokenRequest,
): Promise<TokenAnswer> {
  const { clientId, grantType, credentialField, isRevocation, subject } = request;
  if (credentialField === undefined || (grantType === "" && !isRevocation)) {
    return refuse(oauthError("unsupported_grant_type", "Grant type not supported"));
  }
  const shard = context.store.ofUser(subject?.user ?? "");
  if (subject === undefined || !(await shard.grants.isOf(clientId, subject))) {
    // RFC 7009 section 2.2: an invalid token, or one of another client, needs no revocation.
    if (isRevocation) return { response: new Response(null) };
    return refuse(oauthError("invalid_grant", "Grant not found or authorization code expired"));
  }
  const outcome = await context.store.ofDocument(clientId).documents.load(clientId);
  switch (outcome.kind) {
    case "busy":
      return refuse(
        tooManyRequests("Too many documents of clients", outcome.retryAfterSeconds),
        "document",
      );
    case "refused":
      return outcome.isPassing
        ? hostFails("metadata document")
        : refuse(invalidClient("Client not found", request));
    case "client":
      switch (await checkClient(context, request, outcome.client)) {
        case "authentic":
          return shard.token(context.origin, verified(request));
        case "keys-unavailable":
          return hostFails("keys");
        case "failed":
          return refuse(invalidClient("Client authentication failed", request));
      }
  }
}

/** @param reason for the login doctor, where the error code does not say it. */
export function refuse(response: Response, reason?: TokenReason): TokenAnswer {
  return { response, ...(reason !== undefined && { reason }) };
}

/** As long as a failed load is remembered. */
const RETRY_AFTER_SECONDS = 60;

/**
 * The answer while the client's own host fails. 401 means that the authentication failed (RFC 6749
 * section 5.2), and many clients then delete their tokens. After 503 they keep them: a refresh may be
 * sent again, and a token that was to be revoked still exists (RFC 7009 section 2.2.1).
 *
 * @param what that host has.
 */
function hostFails(what: string): TokenAnswer {
  const description = `The client's ${what} could not be loaded; try again in a minute`;
  const options = { status: 503, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } };
  return refuse(oauthError("temporarily_unavailable", description, options), "host-fails");
}

type Authentication = "authentic" | "failed" | "keys-unavailable";

/** A client whose document lists only signing must sign; one that also lists `none` may. */
async function checkClient(
  context: AuthContext,
  request: TokenRequest,
  { tokenEndpointAuthMethods, clientAssertionKeys }: ClientRecord,
): Promise<Authentication> {
  // This client has no secret, so a request with one comes from another.
  if (request.authorization !== null || request.params.has("client_secret")) return "failed";
  if (!hasAssertion(request)) {
    return tokenEndpointAuthMethods.includes("none") ? "authentic" : "failed";
  }
  if (clientAssertionKeys === undefined) return "failed";
  return checkAssertion(context, request, clientAssertionKeys);
}

/** The request of a client that has authenticated already. */
function verified({ params, clientId }: TokenRequest): TokenRequest {
  const rest = new URLSearchParams(params);
  for (const name of ["client_assertion", "client_assertion_type"]) rest.delete(name);
  rest.set("client_id", clientId);
  return new TokenRequest(rest, null);
}

export function hasAssertion({ params }: TokenRequest): boolean {
  return params.has("client_assertion") || params.has("client_assertion_type");
}

/** Checks whether the client of the request has signed it with one of these keys. */
export async function checkAssertion(
  { origin, clientKeys, store }: AuthContext,
  { params, clientId }: TokenRequest,
  keys: AssertionKeys,
): Promise<Authentication> {
  if (params.get("client_assertion_type") !== ASSERTION_TYPE) return "failed";
  const outcome = await verifyClientAssertion(params.get("client_assertion") ?? "", {
    clientId,
    keys,
    clientKeys,
    issuer: origin,
    tokenEndpoint: `${origin}/token`,
    now: Date.now(),
    reserve: (mark, expiresAt) =>
      store.ephemeral(mark).rows.reserve(`client-assertion-jti:${mark}`, expiresAt),
  });
  if (outcome.kind === "verified") return "authentic";
  return outcome.problem === "keys-unavailable" ? "keys-unavailable" : "failed";
}
