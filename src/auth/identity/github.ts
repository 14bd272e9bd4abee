/**
 * Sign-in by GitHub, which is OAuth 2.0 and not OpenID Connect: no metadata, no ID token, no nonce.
 * Its API identifies the person by the token that the code was just exchanged for: a token from
 * elsewhere would prove nothing.
 */

import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from "oauth4webapi";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import {
  type Applicant,
  domainOf,
  identityOf,
  knownPerson,
  needsEmail,
  type Rules,
  standingUnder,
} from "./allow-list.ts";
import { GitHubApi, type GitHubPlace } from "./github-api.ts";
import { sentenceOf } from "./oidc-failure.ts";
import { type ProviderFetch, providerFetch } from "./provider-fetch.ts";
import type {
  Departure,
  Identity,
  KnownIdentity,
  Recheck,
  RedirectProvider,
  SignInRefused,
  ProviderReturn,
  SignInResult,
  Standing,
  Start,
} from "./provider.ts";
import { checkState, DeadTokenError, endsSignIn, orRefused, SignInError } from "./sign-in-error.ts";
import { isPast, parseUpkeep, type Upkeep, upkeepOf, withRenewed } from "./upkeep.ts";

export interface GitHubConfig extends GitHubPlace, Rules {
  readonly name: string;
  readonly label: string;
  /** Scopes in addition to those that the rules need. */
  readonly scopes: readonly string[];
  /** Origins that GitHub itself redirects to, like a company's own sign-in. */
  readonly formActions: readonly string[];
}

export class GitHubProvider implements RedirectProvider {
  readonly kind = "redirect";
  readonly name: string;
  readonly label: string;
  readonly #config: GitHubConfig;
  readonly #api: GitHubApi;

  constructor(config: GitHubConfig, deps: { readonly fetch: ProviderFetch }) {
    this.name = config.name;
    this.label = config.label;
    this.#config = config;
    this.#api = new GitHubApi(config, providerFetch(deps.fetch));
  }

  async formActions(): Promise<readonly string[]> {
    return [this.#config.baseUrl, ...this.#config.formActions];
  }

  async begin({ state, callback, fresh }: Start): Promise<Departure | SignInRefused> {
    const verifier = generateRandomCodeVerifier();
    const { allow, scopes, baseUrl, clientId } = this.#config;
    const needed = ["read:user", "user:email", ...scopes];
    if (allow.organizations.length > 0) needed.push("read:org");
    const url = new URL(`${baseUrl}/login/oauth/authorize`);
    const parameters = {
      client_id: clientId,
      redirect_uri: callback,
      scope: [...new Set(needed)].join(" "),
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      // GitHub cannot be made to ask for the password again; choosing an account is the closest to
      // it.
      ...(fresh && { prompt: "select_account" }),
    };
    for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
    return { kind: "go", location: url.href, memory: { provider: this.name, verifier, fresh } };
  }

  finish({ url, state, callback, memory }: ProviderReturn): Promise<SignInResult> {
    return orRefused(async () => {
      const { code, verifier } = this.#answer(url, state, memory);
      const tokens = await this.#api.token({
        code,
        redirect_uri: callback,
        code_verifier: verifier,
      });
      const { subject, name } = await this.#api.user(tokens.accessToken);
      const identity = await this.#identify(tokens.accessToken, subject, name);
      const authTime = memory["fresh"] === true ? Math.floor(Date.now() / 1000) : 0;
      return { kind: "identity", identity, upkeep: upkeepOf(tokens), authTime };
    });
  }

  async standing(known: KnownIdentity): Promise<Standing | undefined> {
    if (known.issuer !== this.#config.baseUrl) return undefined;
    return standingUnder(this.#config, knownPerson(known, known.email && domainOf(known.email)));
  }

  async recheck(upkeep: string | undefined, known: KnownIdentity): Promise<Recheck> {
    const kept = parseUpkeep(upkeep);
    if (known.issuer !== this.#config.baseUrl || kept === undefined) {
      return { kind: "ended", detail: "GitHub is not configured as it was at sign-in." };
    }
    try {
      return await this.#judge(kept, known);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      return endsSignIn(error) ? { kind: "ended", detail: error.message } : { kind: "unavailable" };
    }
  }

  async #judge(kept: Upkeep, known: KnownIdentity): Promise<Recheck> {
    // Only GitHub Apps whose tokens expire have a refresh token.
    if (!isPast(kept.accessExpiresAt)) return this.#ask(kept, known);
    if (kept.refreshToken === undefined) {
      return { kind: "ended", detail: "The token has expired, and there is none to renew it." };
    }
    const tokens = await this.#renew(kept.refreshToken);
    if ("kind" in tokens) return tokens;
    const renewed = { refreshToken: kept.refreshToken, ...tokens };
    return withRenewed(renewed, () => this.#ask(renewed, known));
  }

  async #renew(refreshToken: string): Promise<Upkeep | Recheck> {
    try {
      return await this.#api.token({ grant_type: "refresh_token", refresh_token: refreshToken });
    } catch (error) {
      if (!(error instanceof DeadTokenError)) throw error;
      return { kind: "ended", detail: error.message, isTokenRefused: true };
    }
  }

  async #ask({ accessToken }: Upkeep, known: KnownIdentity): Promise<Recheck> {
    const { subject, name } = await this.#api.user(accessToken);
    if (subject !== known.subject) {
      return { kind: "ended", detail: "GitHub answers for another account." };
    }
    const identity = await this.#identify(accessToken, subject, name, known.email);
    return { kind: "alive", identity };
  }

  /**
   * @param knownEmail the address that stays in use when no rule needs it: GitHub is then not asked
   *   again.
   */
  async #identify(
    token: string,
    subject: string,
    name: unknown,
    knownEmail?: string,
  ): Promise<Identity> {
    const { allow, admins, baseUrl } = this.#config;
    const isAsked = knownEmail === undefined || needsEmail(allow, admins);
    const email = isAsked ? await this.#api.email(token) : knownEmail;
    const person: Applicant = {
      subject,
      ...(email !== undefined && { email, domain: domainOf(email) }),
      groups: [],
      organizations: await this.#api.memberships(token, allow.organizations),
    };
    return identityOf(baseUrl, person, this.#config, name);
  }

  /** Checks the callback before any request is sent. */
  #answer(url: URL, state: string, memory: JsonObject): { code: string; verifier: string } {
    const { provider, verifier } = memory;
    if (provider !== this.name || typeof verifier !== "string") {
      throw new SignInError("bad-state", "The sign-in was begun with another provider.");
    }
    checkState(url, state);
    // RFC 9207: some versions do not send it, but it never names another issuer.
    const issuer = url.searchParams.get("iss");
    if (issuer !== null && !this.#isOwn(issuer)) {
      throw new SignInError("bad-state", "The answer is of another provider (iss).");
    }
    const error = url.searchParams.get("error");
    if (error !== null) throw new SignInError("provider-error", sentenceOf(error));
    const [code, ...others] = url.searchParams.getAll("code");
    if (code === undefined || code === "" || others.length > 0) {
      throw new SignInError("provider-error", "The answer has no code, or more than one.");
    }
    return { code, verifier };
  }

  #isOwn(issuer: string): boolean {
    return URL.canParse(issuer) && new URL(issuer).origin === new URL(this.#config.baseUrl).origin;
  }
}
