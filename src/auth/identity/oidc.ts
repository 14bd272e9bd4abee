/**
 * Sign-in by any provider of OpenID Connect that publishes its metadata: Keycloak, Okta, Auth0,
 * Authentik, Zitadel, and Cloudflare Access as "SaaS application" (its issuer is
 * `https://<team>.cloudflareaccess.com/cdn-cgi/access/sso/oidc/<client id>`).
 */

import {
  type AuthorizationServer,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  validateAuthResponse,
} from "oauth4webapi";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { TOLERANCE_SECONDS } from "./id-token.ts";
import { OidcClient, type Tokens } from "./oidc-client.ts";
import { errorCode, explain, sentenceOf } from "./oidc-failure.ts";
import { OidcPeople } from "./oidc-people.ts";
import { type OidcConfig, type OidcTraits, STANDARD } from "./oidc-traits.ts";
import type { ProviderDocuments } from "./provider-documents.ts";
import { type ProviderFetch, providerFetch } from "./provider-fetch.ts";
import type {
  Departure,
  KnownIdentity,
  Recheck,
  RedirectProvider,
  SignInRefused,
  ProviderReturn,
  SignInResult,
  Standing,
  Start,
} from "./provider.ts";
import { checkState, endsSignIn, orRefused, SignInError } from "./sign-in-error.ts";
import { isPast, parseUpkeep, type Upkeep, upkeepOf, withRenewed } from "./upkeep.ts";

export interface OidcDeps {
  /** A fetch that cannot reach private networks. */
  readonly fetch: ProviderFetch;
  readonly documents: ProviderDocuments;
}

/**
 * Only these errors end a sign-in: any other is caused by the operator or the provider, and the
 * person's sign-in may still be valid.
 */
const ENDS: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
]);

const RAN_OUT =
  "The sign-in at the provider has run out, and there is no refresh token to renew it.";
const WITHDRAWN = "The provider does not stand by this sign-in any more.";

interface Memory {
  readonly verifier: string;
  readonly nonce: string;
  readonly isFresh: boolean;
  /** In seconds since 1970. */
  readonly startedAt: number;
}

export class OidcProvider implements RedirectProvider {
  readonly kind = "redirect";
  readonly name: string;
  readonly label: string;
  readonly #config: OidcConfig;
  readonly #traits: OidcTraits;
  readonly #client: OidcClient;
  readonly #people: OidcPeople;

  constructor(config: OidcConfig, { fetch, documents }: OidcDeps, traits = STANDARD) {
    this.name = config.name;
    this.label = config.label;
    this.#config = config;
    this.#traits = traits;
    this.#client = new OidcClient(config, traits, { documents, fetch: providerFetch(fetch) });
    this.#people = new OidcPeople(config, traits, this.#client);
  }

  async formActions(): Promise<readonly string[]> {
    const origins = new Set([...this.#config.issuers.map(originOf), ...this.#config.formActions]);
    try {
      const { authorization_endpoint: endpoint } = await this.#client.authorizationServer();
      if (endpoint !== undefined) origins.add(originOf(endpoint));
    } catch (error) {
      // The page is shown while the provider is unreachable; `begin` reports the failure to the
      // person who goes on.
      if (!(error instanceof SignInError)) throw error;
    }
    return [...origins];
  }

  begin({ state, callback, fresh }: Start): Promise<Departure | SignInRefused> {
    return orRefused(async () => {
      const authorizationServer = await this.#client.authorizationServer();
      const verifier = generateRandomCodeVerifier();
      const nonce = generateRandomNonce();
      const url = new URL(authorizationServer.authorization_endpoint ?? "");
      const parameters = {
        ...this.#parameters(authorizationServer, fresh),
        response_type: "code",
        client_id: this.#config.clientId,
        redirect_uri: callback,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      };
      for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
      const memory = { provider: this.name, verifier, nonce, fresh, startedAt: now() };
      return { kind: "go", location: url.href, memory };
    });
  }

  finish({ url, state, callback, memory }: ProviderReturn): Promise<SignInResult> {
    return orRefused(async () => {
      const { verifier, nonce, ...start } = this.#recall(memory);
      const answer = await this.#answer(url, state);
      const tokens = await this.#client.redeem({ answer, callback, verifier, nonce });
      const { issuer, claims } = await this.#people.meet(tokens);
      const identity = this.#people.identify(issuer, claims);
      const authTime = this.#authTime(
        claims.idToken,
        start,
        await this.#client.authorizationServer(),
      );
      return { kind: "identity", identity, upkeep: upkeepOf(tokens), authTime };
    });
  }

  async standing(known: KnownIdentity): Promise<Standing | undefined> {
    return this.#people.standing(known);
  }

  /**
   * Asks the provider whether the sign-in is still valid: it renews the refresh token or rejects it;
   * without one, it accepts or rejects the access token. New facts about the person are judged again.
   */
  async recheck(upkeep: string | undefined, known: KnownIdentity): Promise<Recheck> {
    if (!this.#people.issuers.includes(known.issuer)) {
      return ended("The provider is not configured now.");
    }
    const kept = parseUpkeep(upkeep);
    if (kept === undefined) return ended(RAN_OUT);
    try {
      return await this.#renewOrProbe(kept, known);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      if (endsSignIn(error)) return ended(error.message);
      const code = errorCode(error);
      if (code === undefined || !ENDS.has(code)) return { kind: "unavailable" };
      const isTokenRefused = code === "invalid_grant" && kept.refreshToken !== undefined;
      return { ...ended(sentenceOf(code)), ...(isTokenRefused && { isTokenRefused }) };
    }
  }

  async #renewOrProbe(kept: Upkeep, known: KnownIdentity): Promise<Recheck> {
    const { refreshToken } = kept;
    if (refreshToken === undefined) {
      return isPast(kept.accessExpiresAt) ? ended(RAN_OUT) : this.#judge(kept, known);
    }
    const { tokens, verified } = await this.#client.refresh(known.issuer, refreshToken);
    const renewed = { refreshToken, ...tokens };
    return withRenewed(renewed, async () => this.#judge(await verified(), known));
  }

  async #judge(tokens: Tokens, known: KnownIdentity): Promise<Recheck> {
    if (tokens.idToken !== undefined && this.#people.subjectOf(tokens.idToken) !== known.subject) {
      return ended("The provider answers for another account.");
    }
    const news = await this.#people.news(tokens, known);
    if (news === "refused") return ended(WITHDRAWN);
    if (news === undefined) return { kind: "alive" };
    try {
      return { kind: "alive", identity: this.#people.identify(known.issuer, news, known) };
    } catch (error) {
      // A provider may leave the ID token out (OpenID Connect Core 12.2), and with it what decides.
      const isUnsaid = tokens.idToken === undefined && this.#people.isUndecided(news);
      if (isUnsaid && error instanceof SignInError) return { kind: "unavailable" };
      throw error;
    }
  }

  #parameters(
    { scopes_supported: supported = [] }: AuthorizationServer,
    fresh: boolean,
  ): Readonly<Record<string, string>> {
    const { parameters, freshParameters, usesOfflineAccess, asksForConsent } = this.#traits;
    const isOffline = usesOfflineAccess && supported.includes("offline_access");
    const { prompt, ...own } = fresh ? freshParameters : parameters;
    const prompts = [prompt, isOffline && asksForConsent ? "consent" : undefined];
    const scopes = ["openid", "profile", "email", ...this.#config.scopes];
    if (isOffline) scopes.push("offline_access");
    const joined = prompts.filter((word) => word !== undefined).join(" ");
    return {
      ...own,
      ...(joined !== "" && { prompt: joined }),
      scope: [...new Set(scopes)].join(" "),
    };
  }

  /**
   * Reads the memory that `begin` made, and requires that it is this provider's, so that an answer
   * cannot come from another (mix-up).
   */
  #recall(memory: JsonObject): Memory {
    const { provider, verifier, nonce, fresh, startedAt } = memory;
    if (
      provider !== this.name ||
      typeof verifier !== "string" ||
      typeof nonce !== "string" ||
      typeof startedAt !== "number"
    ) {
      throw new SignInError("bad-state", "The sign-in was begun with another provider.");
    }
    return { verifier, nonce, isFresh: fresh === true, startedAt };
  }

  /** Checks the callback before any request is sent: `state`, and `iss` (RFC 9207). */
  async #answer(url: URL, state: string): Promise<URLSearchParams> {
    checkState(url, state);
    const authorizationServer = await this.#client.authorizationServer();
    try {
      return validateAuthResponse(authorizationServer, this.#client.client, url, state);
    } catch (cause) {
      if (cause instanceof AuthorizationResponseError) throw explain(cause);
      const detail = "The answer is of another provider, or says something twice (iss).";
      throw new SignInError("bad-state", detail, { cause });
    }
  }

  #authTime(
    { auth_time: authTime, iat }: JsonObject,
    { isFresh, startedAt }: Pick<Memory, "isFresh" | "startedAt">,
    { claims_supported: claims }: AuthorizationServer,
  ): number {
    if (typeof authTime !== "number") {
      // The request passed through the browser, where `max_age` can be removed. A provider that
      // supports `auth_time` and omits it was not asked; for one that never sends it, this cannot
      // be known. OpenID Connect Core 1.0 section 2 requires the claim where `max_age` was
      // requested.
      const { sendsAuthTime } = this.#traits;
      if (isFresh && sendsAuthTime && claims?.includes("auth_time") === true) throw notFresh();
      return isFresh && !sendsAuthTime && typeof iat === "number" ? iat : 0;
    }
    if (isFresh && authTime < startedAt - TOLERANCE_SECONDS) throw notFresh();
    return authTime;
  }
}

function ended(detail: string): Recheck {
  return { kind: "ended", detail };
}

function notFresh(): SignInError {
  return new SignInError("not-fresh", "The provider did not ask the person to sign in anew.");
}

function originOf(url: string): string {
  return new URL(url).origin;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
