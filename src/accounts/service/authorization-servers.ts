/** The `Authorization` port over HTTP: discovery with its cache, registration, and requests for tokens. */

import type { LoadOptions } from "../../lib/egress.ts";
import type { Account, AccountIssuer } from "../account.ts";
import { authorizationUrl } from "../client/authorization-request.ts";
import { chooseRegistration } from "../client/choose-registration.ts";
import { configuredMethod, importClientKey, type OAuthClient } from "../client/oauth-client.ts";
import type { EndpointAccess } from "../client/send-request.ts";
import {
  exchangeCode,
  refreshToken,
  requestOwnToken,
  revokeToken,
  type TokenAnswer,
  type TokenRequest,
} from "../client/token-request.ts";
import { type Discovery, discover } from "../discovery/discover.ts";
import { egressPolicyFor } from "../discovery/load-metadata.ts";
import { isIssuer, type ServerMetadata } from "../discovery/server-metadata.ts";
import { configuredIssuer } from "../discovery/without-metadata.ts";
import { parseScope } from "../scopes.ts";
import type { OAuthSettings, RegistrationWay } from "../settings.ts";
import { resolveSettings } from "../vendor-defaults.ts";
import { problem } from "./account-summary.ts";
import type {
  AccountServer,
  Authorization,
  AuthorizationRequest,
  ClientOutcome,
  CodeExchange,
  DiscoverOptions,
  ExchangeAnswer,
} from "./authorization.ts";
import { headerOf, operatorScopes } from "./credential-header.ts";
import { challengeOf, tryHeader } from "./probe.ts";
import type { RegistrationRequest, RegistrationResult } from "./registrations.ts";
import { EXCHANGE_TROUBLES, meaningOf, ownMeaningOf, tokensOf } from "./token-meanings.ts";
import type { RenewalAnswer } from "./token-renewal.ts";
import type { AccountSecrets } from "./vault-seal.ts";

/** Registrations are kept for each issuer, for everybody. */
interface RegistrationsOf {
  register(request: RegistrationRequest): Promise<RegistrationResult>;
  forget(redirectUri: string, clientId: string): Promise<void>;
}

export interface AuthorizationServersOptions {
  readonly fetch: LoadOptions["fetch"];
  readonly ownHosts: ReadonlySet<string>;
  readonly origin: string | undefined;
  readonly registrations: (issuer: string) => RegistrationsOf;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * Metadata is kept for an hour, and that there is none for a minute. Where a person connects, or a token was
 * refused, the server may have moved to another authorization server a moment ago: then metadata is read
 * anew. Both are limited where they begin (`Connecting.begin`, 30 s between refreshes).
 */
function keptFor(discovery: Discovery | undefined, { isFresh = false }: DiscoverOptions): number {
  if (discovery?.kind !== "found") return MINUTE_MS;
  return isFresh ? 0 : HOUR_MS;
}

export class AuthorizationServers implements Authorization {
  readonly #options: AuthorizationServersOptions;
  /** By `subjectOf`. */
  readonly #known = new Map<string, { readonly at: number; readonly discovery: Discovery }>();

  constructor(options: AuthorizationServersOptions) {
    this.#options = options;
  }

  async discover(server: AccountServer, options: DiscoverOptions): Promise<Discovery> {
    const subject = subjectOf(server);
    const known = this.#known.get(subject);
    const keptMs = keptFor(known?.discovery, options);
    if (known !== undefined && Date.now() - known.at < keptMs) return known.discovery;
    const discovery = await this.#read(server, options);
    this.#known.set(subject, { at: Date.now(), discovery });
    return discovery;
  }

  registrationWay(oauth: OAuthSettings, metadata: ServerMetadata): RegistrationWay | undefined {
    const { way } = this.#choose(oauth, metadata, this.#options.origin ?? "http://localhost");
    return way === "operator" ? undefined : way;
  }

  async client(
    server: AccountServer,
    metadata: ServerMetadata,
    { origin, isAnew, redirectUri }: { origin: string; isAnew: boolean; redirectUri: string },
  ): Promise<ClientOutcome> {
    if (!("oauth" in server.auth)) return problem("not-registered");
    const { oauth } = server.auth;
    const chosen = this.#choose(oauth, metadata, origin);
    switch (chosen.way) {
      case "operator":
        return { kind: "problem", problem: { code: "not-registered", detail: { redirectUri } } };
      case "preregistered": {
        const method = configuredMethod(oauth, metadata.token_endpoint_auth_methods_supported);
        return { kind: "client", client: { id: chosen.clientId, way: chosen.way, method } };
      }
      case "cimd":
        return {
          kind: "client",
          client: { id: chosen.clientId, way: chosen.way, method: chosen.method },
        };
      case "dcr": {
        const offered = metadata.token_endpoint_auth_methods_supported;
        const result = await this.#options.registrations(metadata.issuer).register({
          endpoint: chosen.endpoint,
          facts: { origin, redirectUri, ...(offered !== undefined && { offered }) },
          server: server.target.slug,
          isAnew,
        });
        if (result.kind === "failed") return problem(result.trouble);
        const { id, method, secret } = result.client;
        return { kind: "client", client: { id, way: "dcr", method, redirectUri }, secret };
      }
    }
  }

  async forgetClient(_: AccountServer, { issuer, client }: AccountIssuer): Promise<void> {
    if (client.redirectUri === undefined) return;
    await this.#options.registrations(issuer).forget(client.redirectUri, client.id);
  }

  async authorizationUrl(
    { auth }: AccountServer,
    { client, ...request }: AuthorizationRequest,
  ): Promise<string | undefined> {
    if (!("oauth" in auth)) return undefined;
    const settings = resolveSettings(auth.oauth, request.metadata.issuer);
    return authorizationUrl({ ...request, settings, clientId: client.id });
  }

  async exchange(server: AccountServer, request: CodeExchange): Promise<ExchangeAnswer> {
    const client = await clientOf(server, request.issuer, request.secret);
    if (client === undefined) return problem("client-gone");
    const answer = await exchangeCode(
      { ...request, metadata: metadataOf(request.issuer), client },
      this.#access(server),
    );
    const { outcome } = answer;
    if (outcome.kind === "granted") return { kind: "tokens", tokens: tokensOf(answer, outcome) };
    if (outcome.kind === "client-gone") await this.forgetClient(server, request.issuer);
    return problem(EXCHANGE_TROUBLES[outcome.kind]);
  }

  async renew(
    server: AccountServer,
    account: Account,
    secrets: AccountSecrets,
  ): Promise<RenewalAnswer> {
    if (!("oauth" in server.auth)) return { kind: "not-processed" };
    const known = account.issuer && { issuer: account.issuer, resource: account.resource };
    const at = known ?? (await this.#ownIssuer(server));
    if (at === undefined) return { kind: "not-processed" };
    const { issuer, resource } = at;
    const client = await clientOf(server, issuer, secrets.clientSecret);
    if (client === undefined) return { kind: "not-accepted", trouble: "client-refused" };
    const { scopeOnRefresh } = resolveSettings(server.auth.oauth, issuer.issuer);
    const request = { metadata: metadataOf(issuer), client, resource };
    const access = this.#access(server);
    if (account.kind === "client-credentials") {
      return ownMeaningOf(await this.#requestOwn(server, account, request));
    }
    const { refreshToken: token = "" } = secrets;
    const refresh = { ...request, refreshToken: token };
    const scopes = scopeOnRefresh ? account.requested : undefined;
    const first = await refreshToken({ ...refresh, scopes }, access);
    const isScope = first.outcome.kind === "scope-refused" && scopes !== undefined;
    const answer = isScope ? await refreshToken(refresh, access) : first;
    return meaningOf(answer, issuer.client.way);
  }

  /** The server may have demanded a scope that its authorization server does not know: that is left out again. */
  async #requestOwn(
    server: AccountServer,
    { requested }: Account,
    request: TokenRequest,
  ): Promise<TokenAnswer> {
    const access = this.#access(server);
    const first = await requestOwnToken({ ...request, scopes: requested }, access);
    const scopes = operatorScopes(server);
    const isBeyond = requested.length > scopes.length;
    if (first.outcome.kind !== "scope-refused" || !isBeyond) return first;
    return requestOwnToken({ ...request, scopes }, access);
  }

  async revoke(server: AccountServer, account: Account, secrets: AccountSecrets): Promise<void> {
    const { issuer } = account;
    if (issuer?.revocationEndpoint === undefined) return;
    const client = await clientOf(server, issuer, secrets.clientSecret);
    if (client === undefined) return;
    const metadata = { issuer: issuer.issuer, revocation_endpoint: issuer.revocationEndpoint };
    const access = this.#access(server);
    const { refreshToken: refresh, accessToken } = secrets;
    if (refresh !== undefined) {
      await revokeToken(metadata, client, { value: refresh, hint: "refresh_token" }, access);
    }
    if (accessToken !== undefined) {
      await revokeToken(metadata, client, { value: accessToken, hint: "access_token" }, access);
    }
  }

  async tryKey(server: AccountServer, key: string): Promise<"accepted" | "refused" | "untried"> {
    const header = headerOf(server.auth, { apiKey: key });
    return header === undefined ? "refused" : tryHeader(server, header);
  }

  #access({ target, auth }: AccountServer): EndpointAccess {
    const { fetch, ownHosts } = this.#options;
    const settings = "oauth" in auth ? auth.oauth : {};
    return { fetch, policy: egressPolicyFor(target.endpoint, settings, ownHosts) };
  }

  #choose(oauth: OAuthSettings, metadata: ServerMetadata, origin: string) {
    return chooseRegistration({
      settings: resolveSettings(oauth, metadata.issuer),
      metadata,
      origin,
    });
  }

  async #read(
    server: AccountServer,
    { challenge, connectedTo }: DiscoverOptions,
  ): Promise<Discovery> {
    const { target, auth } = server;
    if (!("oauth" in auth)) return { kind: "failed", trouble: "no-metadata" };
    const { oauth } = auth;
    const told = challenge ?? (await challengeOf(server));
    const found = await discover(
      {
        endpoint: target.endpoint,
        settings: oauth,
        grant: auth.kind === "client-credentials" ? "client_credentials" : "authorization_code",
        canRegister: (metadata) => this.registrationWay(oauth, metadata) !== undefined,
        ...(told !== undefined && { challenge: told }),
        ...(connectedTo !== undefined && { connectedTo }),
      },
      this.#access(server),
    );
    const scopes = parseScope(told?.scope);
    return found.kind === "found" && scopes !== undefined ? { ...found, scopes } : found;
  }

  /** Where the gateway gets tokens of its own, and for which resource (RFC 8707). */
  async #ownIssuer(
    server: AccountServer,
  ): Promise<{ issuer: AccountIssuer; resource: string | undefined } | undefined> {
    const found = await this.discover(server, {});
    if (found.kind === "failed" || !("oauth" in server.auth)) return undefined;
    const { issuer, token_endpoint: tokenEndpoint, ...metadata } = found.authorizationServer;
    const method = configuredMethod(
      server.auth.oauth,
      metadata.token_endpoint_auth_methods_supported,
    );
    const { clientId = "" } = server.auth.oauth;
    const client = { id: clientId, way: "preregistered", method } as const;
    return { issuer: { issuer, tokenEndpoint, client }, resource: found.resource };
  }
}

/** What was found is of a server as it was configured then: an operator may have changed anything of it since. */
function subjectOf({ target: { slug, endpoint }, auth }: AccountServer): string {
  const oauth = "oauth" in auth ? auth.oauth : {};
  // The secrets have no part in what is found.
  const settings = { ...oauth, clientSecret: undefined, privateKey: undefined };
  return JSON.stringify([slug, endpoint.href, auth.kind, settings]);
}

function metadataOf({
  issuer,
  tokenEndpoint,
}: AccountIssuer): Pick<ServerMetadata, "issuer" | "token_endpoint"> {
  return { issuer, token_endpoint: tokenEndpoint };
}

/**
 * The secret and the key of the operator's client are read from the configuration each time: they may have been
 * rotated. They are sent to no other issuer than the one that they are configured for, and an account may still
 * be of the one before.
 *
 * @returns `undefined` for a client of the operator's that has nothing to prove itself with any more.
 */
async function clientOf(
  { auth }: AccountServer,
  { issuer, client: { id, way, method } }: AccountIssuer,
  registered: string | undefined,
): Promise<OAuthClient | undefined> {
  if (way !== "preregistered") return { id, method, secret: registered };
  const oauth = "oauth" in auth && isClientAt(auth.oauth, id, issuer) ? auth.oauth : undefined;
  const secret = oauth?.clientSecret;
  const pem = method === "private_key_jwt" ? oauth?.privateKey : undefined;
  const key = pem === undefined ? undefined : { key: await importClientKey(pem) };
  const proof = method === "private_key_jwt" ? key : secret;
  return method === "none" || proof !== undefined ? { id, method, secret, key } : undefined;
}

/** True where the operator has entered this client, and for this issuer. */
function isClientAt(settings: OAuthSettings, id: string, issuer: string): boolean {
  const expected = configuredIssuer(settings);
  return settings.clientId === id && (expected === undefined || isIssuer(issuer, expected));
}
