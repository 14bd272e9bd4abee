/**
 * The client side of OpenID Connect: authorization code with PKCE, refresh, userinfo. Its results
 * are verified; anything else throws a `SignInError`.
 */

import { decodeJwt } from "jose";
import {
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  clockTolerance,
  getValidatedIdTokenClaims,
  jwksCache,
  None,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  processUserInfoResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  userInfoRequest,
  validateApplicationLevelSignature,
} from "oauth4webapi";

import { basicCredentials, secretMethod } from "../../lib/client-secret.ts";
import { tryJson } from "../../lib/try-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { checkIdToken, TOLERANCE_SECONDS } from "./id-token.ts";
import { explained } from "./oidc-failure.ts";
import type { OidcConfig, OidcTraits } from "./oidc-traits.ts";
import { type ProviderDocuments, requestOptions } from "./provider-documents.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import { SignInError } from "./sign-in-error.ts";

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** In seconds since 1970. */
  readonly accessExpiresAt?: number;
  /** The claims of a verified ID token; a refresh response need not contain one. */
  readonly idToken?: JsonObject;
}

/** The answer to a refresh. */
export interface Renewal {
  /** They replace the earlier ones, whatever the ID token beside them is worth. */
  readonly tokens: Tokens;
  /** @returns the tokens with the verified claims of the ID token, if there is one. */
  readonly verified: () => Promise<Tokens>;
}

/** The callback's parameters, once the library has checked them. */
export interface Redemption {
  readonly answer: URLSearchParams;
  readonly callback: string;
  readonly verifier: string;
  readonly nonce: string;
}

export class OidcClient {
  readonly #config: OidcConfig;
  readonly #traits: OidcTraits;
  readonly #documents: ProviderDocuments;
  readonly #fetch: ProviderFetch;
  readonly client: Client;

  constructor(
    config: OidcConfig,
    traits: OidcTraits,
    { documents, fetch }: { documents: ProviderDocuments; fetch: ProviderFetch },
  ) {
    this.#config = config;
    this.#traits = traits;
    this.#documents = documents;
    this.#fetch = fetch;
    this.client = { client_id: config.clientId, [clockTolerance]: TOLERANCE_SECONDS };
  }

  /** @returns the metadata with which a sign-in begins. */
  authorizationServer(): Promise<AuthorizationServer> {
    return explained(async () => {
      const [first, ...others] = this.#config.issuers;
      const metadata = await this.#metadata(first);
      return others.length === 0 ? metadata : (this.#traits.sharedServer?.(metadata) ?? metadata);
    });
  }

  redeem({
    answer,
    callback,
    verifier,
    nonce,
  }: Redemption): Promise<Required<Pick<Tokens, "idToken">> & Tokens> {
    return explained(async () => {
      const authorizationServer = await this.authorizationServer();
      const response = await authorizationCodeGrantRequest(
        authorizationServer,
        this.client,
        clientAuthOf(this.#config, authorizationServer),
        answer,
        callback,
        verifier,
        this.#request(authorizationServer),
      );
      const home = await this.#homeOf(authorizationServer, response);
      const body = await processAuthorizationCodeResponse(home, this.client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      const tokens = await this.#verified(home, response, body);
      return { ...tokens, idToken: tokens.idToken ?? {} };
    });
  }

  refresh(issuer: string, refreshToken: string): Promise<Renewal> {
    return explained(async () => {
      const home = await this.#metadata(issuer);
      const response = await refreshTokenGrantRequest(
        home,
        this.client,
        clientAuthOf(this.#config, home),
        refreshToken,
        this.#request(home),
      );
      const body = await processRefreshTokenResponse(home, this.client, response);
      const tokens = tokensOf(body);
      const verified = (): Promise<Tokens> =>
        explained(async () => {
          try {
            return await this.#verified(home, response, body);
          } catch (error) {
            // Without the provider's keys there is nothing new about the person, but the tokens are
            // valid.
            if (error instanceof SignInError && error.reason === "provider-unreachable") {
              return tokens;
            }
            throw error;
          }
        });
      return { tokens, verified };
    });
  }

  /**
   * @param subject the `sub` that the response must have.
   * @returns `undefined` without a userinfo endpoint, "refused" when the provider rejects the
   *   token.
   */
  userinfo(issuer: string, accessToken: string, subject: string) {
    return explained(async (): Promise<JsonObject | "refused" | undefined> => {
      const home = await this.#metadata(issuer);
      if (!this.#traits.hasUserinfo || home.userinfo_endpoint === undefined) return undefined;
      const response = await userInfoRequest(home, this.client, accessToken, this.#request(home));
      if (response.status === 401 || response.status === 403) return "refused";
      return processUserInfoResponse(home, this.client, subject, response);
    });
  }

  #metadata(issuer: string): Promise<AuthorizationServer> {
    return this.#documents.metadata(issuer, this.#fetch);
  }

  #request({ issuer }: AuthorizationServer) {
    return requestOptions(issuer, this.#fetch);
  }

  /**
   * With several issuers, the token names its own, which must be one of ours; the token is then
   * validated against that issuer alone, so a false claim achieves nothing.
   */
  async #homeOf(
    authorizationServer: AuthorizationServer,
    response: Response,
  ): Promise<AuthorizationServer> {
    if (this.#config.issuers.length === 1) return authorizationServer;
    const body = tryJson(await response.clone().text());
    const token = isObject(body) ? body["id_token"] : undefined;
    // An error response, which the library reads.
    if (typeof token !== "string") return authorizationServer;
    const claimed = issuerOf(token);
    const issuer = this.#config.issuers.find((issuer) => issuer === claimed);
    if (issuer === undefined) {
      throw new SignInError("not-allowed", "The account is of a tenant that is not listed.");
    }
    return this.#metadata(issuer);
  }

  async #verified(
    home: AuthorizationServer,
    response: Response,
    body: TokenEndpointResponse,
  ): Promise<Tokens> {
    const { access_token: accessToken, id_token: token } = body;
    const idToken = getValidatedIdTokenClaims(body);
    if (token === undefined || idToken === undefined) return tokensOf(body);
    await this.#documents.withKeys(home.issuer, (keys) =>
      validateApplicationLevelSignature(home, response, {
        ...this.#request(home),
        [jwksCache]: keys,
      }),
    );
    await checkIdToken(token, idToken, accessToken);
    return { ...tokensOf(body), idToken };
  }
}

function tokensOf({ access_token, refresh_token, expires_in }: TokenEndpointResponse): Tokens {
  return {
    accessToken: access_token,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(expires_in !== undefined && { accessExpiresAt: Date.now() / 1000 + expires_in }),
  };
}

function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // no token at all
  }
}

/** Client authentication of the gateway at a provider (RFC 6749 section 2.3). */
function clientAuthOf(
  { clientId: id, clientSecret: secret, clientAuth }: ClientCredentials,
  { token_endpoint_auth_methods_supported: methods }: AuthorizationServer,
): ClientAuth {
  if (secret === undefined) return None();
  const method = clientAuth ?? secretMethod({ id, secret }, methods);
  if (method === "client_secret_post") return ClientSecretPost(secret);
  const value = basicCredentials({ id, secret });
  return (_server, _client, _body, headers) => headers.set("authorization", value);
}

type ClientCredentials = Pick<OidcConfig, "clientId" | "clientSecret" | "clientAuth">;
