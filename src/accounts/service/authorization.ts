/**
 * The port to the authorization servers: the requests that a vault makes, with the meaning of their answers.
 * Nothing is stored behind it but what may be forgotten, and nothing in it throws.
 */

import type { BearerChallenge } from "../../protocol/bearer-challenge.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Account, AccountIssuer } from "../account.ts";
import type { Discovery } from "../discovery/discover.ts";
import type { ServerMetadata } from "../discovery/server-metadata.ts";
import type { OAuthSettings, RegistrationWay, ServerAuth } from "../settings.ts";
import type { ConnectProblem } from "../vault.ts";
import type { FreshTokens, RenewalAnswer } from "./token-renewal.ts";
import type { AccountSecrets } from "./vault-seal.ts";

/** A configured server that demands an account. */
export interface AccountServer {
  readonly target: UpstreamTarget;
  readonly auth: ServerAuth;
}

/** The gateway as a client of an authorization server. */
interface RegisteredClient {
  readonly client: AccountIssuer["client"];
  readonly secret?: string | undefined;
}

export interface DiscoverOptions {
  readonly challenge?: BearerChallenge | undefined;
  /** The issuer of the account that is connected now. */
  readonly connectedTo?: string | undefined;
  /** Reads anew what was read before. */
  readonly isFresh?: boolean;
}

/** What an authorization request is made of (RFC 6749 section 4.1.1, RFC 7636, RFC 8707). */
export interface AuthorizationRequest {
  readonly metadata: ServerMetadata;
  readonly client: AccountIssuer["client"];
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** What is sent for a code, all of it as in the authorization request. */
export interface CodeExchange {
  readonly issuer: AccountIssuer;
  readonly secret?: string | undefined;
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly resource?: string | undefined;
}

export type ExchangeAnswer =
  | { readonly kind: "tokens"; readonly tokens: FreshTokens }
  | { readonly kind: "problem"; readonly problem: ConnectProblem };

export type ClientOutcome =
  | ({ readonly kind: "client" } & RegisteredClient)
  | { readonly kind: "problem"; readonly problem: ConnectProblem };

export interface Authorization {
  discover(server: AccountServer, options: DiscoverOptions): Promise<Discovery>;
  /** How the gateway is, or would be, known there; `undefined` when it cannot be. */
  registrationWay(oauth: OAuthSettings, metadata: ServerMetadata): RegistrationWay | undefined;
  /** The gateway's client at an authorization server, registered if need be. */
  client(
    server: AccountServer,
    metadata: ServerMetadata,
    options: { readonly origin: string; readonly isAnew: boolean; readonly redirectUri: string },
  ): Promise<ClientOutcome>;
  /** The authorization server does not know this client any more: the next `client` is another. */
  forgetClient(server: AccountServer, issuer: AccountIssuer): Promise<void>;
  /** @returns `undefined` when it would be too long. */
  authorizationUrl(
    server: AccountServer,
    request: AuthorizationRequest,
  ): Promise<string | undefined>;
  exchange(server: AccountServer, exchange: CodeExchange): Promise<ExchangeAnswer>;
  /** One request with the refresh token, or with the client's own credentials. */
  renew(server: AccountServer, account: Account, secrets: AccountSecrets): Promise<RenewalAnswer>;
  /** RFC 7009: the refresh token, then the access token. Best effort. */
  revoke(server: AccountServer, account: Account, secrets: AccountSecrets): Promise<void>;
  /** One request to the server with an API key. */
  tryKey(server: AccountServer, key: string): Promise<"accepted" | "refused" | "untried">;
}
