/** The authorization request (RFC 6749 section 4.1.1, RFC 7636, RFC 8707). */

import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from "oauth4webapi";

import type { ServerMetadata } from "../discovery/server-metadata.ts";
import type { ResolvedSettings } from "../vendor-defaults.ts";

export interface AuthorizationRequest {
  readonly metadata: ServerMetadata;
  readonly settings: ResolvedSettings;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** @returns 43 characters of chance (RFC 7636 section 4.1). */
export function newVerifier(): string {
  return generateRandomCodeVerifier();
}

/** Longer addresses are cut by some servers and browsers. */
const MAX_LENGTH = 2000;

/**
 * The address that the browser is sent to. What the endpoint's query has already is kept (RFC 6749 section
 * 3.1), and each of OAuth's own parameters is there once, whatever the operator's are.
 *
 * @returns `undefined` when the address would be too long, or there is none.
 */
export async function authorizationUrl(request: AuthorizationRequest): Promise<string | undefined> {
  const { metadata, settings, resource, scopes = [] } = request;
  if (metadata.authorization_endpoint === undefined) return undefined;
  const url = new URL(metadata.authorization_endpoint);
  const parameters = {
    ...settings.authorizeParams,
    response_type: "code",
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    state: request.state,
    code_challenge: await calculatePKCECodeChallenge(request.verifier),
    code_challenge_method: "S256",
    ...(resource !== undefined && { resource }),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href.length > MAX_LENGTH ? undefined : url.href;
}
