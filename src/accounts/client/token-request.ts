/** Requests to the token endpoint and the revocation endpoint (RFC 6749, RFC 7009). None is repeated. */

import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  revocationRequest,
} from "oauth4webapi";

import type { ServerMetadata } from "../discovery/server-metadata.ts";
import { clientAuthentication, type OAuthClient } from "./oauth-client.ts";
import { type EndpointAccess, type EndpointOutcome, sendRequest } from "./send-request.ts";
import { judgeTokenResponse, type TokenOutcome } from "./token-response.ts";

export interface TokenRequest {
  readonly metadata: Pick<ServerMetadata, "issuer" | "token_endpoint">;
  readonly client: OAuthClient;
  /** The same as in the authorization request (RFC 8707 section 2.2). */
  readonly resource?: string | undefined;
}

export interface TokenAnswer {
  readonly outcome: TokenOutcome;
  /** The client as the server has accepted it: to be remembered if its method is another one. */
  readonly client: OAuthClient;
}

const CODE_TIMEOUT_MS = 15_000;
const REFRESH_TIMEOUT_MS = 10_000;
const REVOCATION_TIMEOUT_MS = 5000;

/** Exchanges a code (RFC 6749 section 4.1.3). It is spent, whatever the outcome. */
export function exchangeCode(
  request: TokenRequest & {
    readonly code: string;
    readonly redirectUri: string;
    readonly verifier: string;
  },
  access: EndpointAccess,
): Promise<TokenAnswer> {
  const { code, redirectUri, verifier } = request;
  const parameters = { code, redirect_uri: redirectUri, code_verifier: verifier };
  return requestToken("authorization_code", parameters, request, {
    ...access,
    timeoutMs: CODE_TIMEOUT_MS,
  });
}

/** @param request has `scopes` only where a refresh needs them; it could not ask for more (section 6). */
export function refreshToken(
  request: TokenRequest & {
    readonly refreshToken: string;
    readonly scopes?: readonly string[] | undefined;
  },
  access: EndpointAccess,
): Promise<TokenAnswer> {
  const parameters = { refresh_token: request.refreshToken, ...scopeOf(request.scopes) };
  return requestToken("refresh_token", parameters, request, {
    ...access,
    timeoutMs: REFRESH_TIMEOUT_MS,
  });
}

/** Gets a token for the gateway itself (RFC 6749 section 4.4). A refresh token in the answer is ignored. */
export async function requestOwnToken(
  request: TokenRequest & { readonly scopes?: readonly string[] | undefined },
  access: EndpointAccess,
): Promise<TokenAnswer> {
  const answer = await requestToken("client_credentials", scopeOf(request.scopes), request, {
    ...access,
    timeoutMs: REFRESH_TIMEOUT_MS,
  });
  if (answer.outcome.kind !== "granted") return answer;
  const { refreshToken: _ignored, ...tokens } = answer.outcome.tokens;
  return { ...answer, outcome: { kind: "granted", tokens } };
}

/** Ends a token where the server offers that (RFC 7009). @returns whether it was accepted. */
export async function revokeToken(
  metadata: Pick<ServerMetadata, "issuer" | "revocation_endpoint">,
  client: OAuthClient,
  token: { readonly value: string; readonly hint: "access_token" | "refresh_token" },
  access: EndpointAccess,
): Promise<boolean> {
  if (metadata.revocation_endpoint === undefined) return false;
  const answer = await captured({ ...access, timeoutMs: REVOCATION_TIMEOUT_MS }, (options) =>
    revocationRequest(
      { ...metadata },
      { client_id: client.id },
      clientAuthentication(client),
      token.value,
      { ...options, additionalParameters: { token_type_hint: token.hint } },
    ),
  );
  return typeof answer !== "string" && answer.status === 200;
}

type TimedAccess = EndpointAccess & { readonly timeoutMs: number };

async function requestToken(
  grant: string,
  own: Readonly<Record<string, string>>,
  { metadata, client, resource }: TokenRequest,
  access: TimedAccess,
): Promise<TokenAnswer> {
  const parameters = { ...own, ...(resource !== undefined && { resource }) };
  const request = async (client: OAuthClient): Promise<TokenAnswer> => {
    const answer = await captured(access, (options) =>
      genericTokenEndpointRequest(
        { ...metadata },
        { client_id: client.id },
        clientAuthentication(client),
        grant,
        parameters,
        options,
      ),
    );
    return { outcome: judgeTokenResponse(answer, Date.now()), client };
  };
  const answer = await request(client);
  const { outcome } = answer;
  // Some servers register a client with a secret and the method `none`, and then demand the secret. A
  // request that was refused for it was not processed.
  const isRefused = outcome.kind === "client-gone" && outcome.isAuthenticationRefused;
  if (!isRefused || client.method !== "none" || client.secret === undefined) return answer;
  return request({ ...client, method: "client_secret_post" });
}

function scopeOf(scopes: readonly string[] = []): { readonly scope?: string } {
  return scopes.length === 0 ? {} : { scope: scopes.join(" ") };
}

/**
 * The library makes the request and sends it through our own fetch, which keeps what came: the library
 * would lose parts of it.
 */
async function captured(
  access: TimedAccess,
  request: (options: RequestOptions) => Promise<Response>,
): Promise<EndpointOutcome> {
  let outcome: EndpointOutcome = "refused";
  await request({
    [customFetch]: async (address, init) => {
      outcome = await sendRequest(address, init, access);
      return new Response(null);
    },
    // `sendRequest` judges the address.
    [allowInsecureRequests]: true,
  });
  return outcome;
}

interface RequestOptions {
  readonly [customFetch]: (address: string, init: object) => Promise<Response>;
  readonly [allowInsecureRequests]: boolean;
}
