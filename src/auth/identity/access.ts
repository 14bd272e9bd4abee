/**
 * Cloudflare Access in front of the pages (`/authorize`, `/login`, `/account`, `/admin`): every
 * request carries a signed JWT that names the person. The header with the email address is not
 * read: a request that bypasses Access can contain any. (Access as an OpenID provider is
 * `oidc.ts`.)
 */

import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { JOSEError, JWKSNoMatchingKey } from "jose/errors";

import { tryJson } from "../../lib/try-json.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import {
  type Applicant,
  domainOf,
  identityOf,
  isEmail,
  isSubject,
  knownPerson,
  type Rules,
  standingUnder,
} from "./allow-list.ts";
import { TOLERANCE_SECONDS } from "./id-token.ts";
import type { FetchedKeys, ProviderDocuments } from "./provider-documents.ts";
import { type ProviderFetch, providerFetch } from "./provider-fetch.ts";
import type {
  HeaderProvider,
  Identity,
  KnownIdentity,
  Recheck,
  SignInResult,
  Standing,
} from "./provider.ts";
import { orRefused, SignInError } from "./sign-in-error.ts";

export interface AccessConfig extends Rules {
  readonly name: string;
  readonly label: string;
  /** `https://<team>.cloudflareaccess.com`: the issuer, and the origin of its keys. */
  readonly teamUrl: string;
  /** The application's audience tag. */
  readonly audience: string;
}

export interface AccessDeps {
  readonly fetch: ProviderFetch;
  readonly documents: ProviderDocuments;
}

/** Anyone can make up a key id, so the keys are not fetched again for each one. */
const COOLDOWN_SECONDS = 30;

export class AccessProvider implements HeaderProvider {
  readonly kind = "header";
  readonly name: string;
  readonly label: string;
  readonly signOutUrl: string;
  readonly #config: AccessConfig;
  readonly #fetch: ProviderFetch;
  readonly #documents: ProviderDocuments;

  constructor(config: AccessConfig, { fetch, documents }: AccessDeps) {
    this.name = config.name;
    this.label = config.label;
    this.signOutUrl = `${config.teamUrl}/cdn-cgi/access/logout`;
    this.#config = config;
    this.#fetch = providerFetch(fetch);
    this.#documents = documents;
  }

  async identify(headers: Headers): Promise<SignInResult | undefined> {
    const assertion = headers.get("cf-access-jwt-assertion");
    if (assertion === null) return undefined;
    return orRefused(async () => {
      const claims = await this.#verify(assertion);
      const identity = this.#identity(claims);
      // `iat` is the time at which the person passed Access, which may be later than their sign-in
      // there.
      return { kind: "identity", identity, upkeep: assertion, authTime: claims.iat ?? 0 };
    });
  }

  async standing(known: KnownIdentity): Promise<Standing | undefined> {
    if (known.issuer !== this.#config.teamUrl) return undefined;
    return standingUnder(this.#config, knownPerson(known, known.email && domainOf(known.email)));
  }

  /**
   * The JWT is valid for as long as the session at Access, and Access reports whether that has
   * ended.
   */
  async recheck(upkeep: string | undefined, known: KnownIdentity): Promise<Recheck> {
    if (upkeep === undefined || known.issuer !== this.#config.teamUrl) return ended();
    try {
      const identity = this.#identity(await this.#verify(upkeep));
      if (identity.subject !== known.subject) return ended();
      return (await this.#isStanding(upkeep)) ? { kind: "alive", identity } : ended();
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      if (error.reason === "not-allowed") return ended(error.message);
      return error.reason === "bad-token" ? ended() : { kind: "unavailable" };
    }
  }

  #identity({ sub, email, name }: JWTPayload): Identity {
    // A service token has no subject: it is not a person.
    if (!isSubject(sub)) throw new SignInError("bad-token", "Cloudflare Access names no person.");
    const address = typeof email === "string" && isEmail(email) ? email : undefined;
    const person: Applicant = {
      subject: sub,
      ...(address !== undefined && { email: address, domain: domainOf(address) }),
      groups: [],
      organizations: [],
    };
    return identityOf(this.#config.teamUrl, person, this.#config, name);
  }

  async #verify(assertion: string): Promise<JWTPayload> {
    const { teamUrl, audience } = this.#config;
    const verify = async ({ jwks }: FetchedKeys): Promise<JWTPayload> => {
      const { payload } = await jwtVerify(assertion, createLocalJWKSet(jwks as JSONWebKeySet), {
        issuer: teamUrl,
        audience,
        algorithms: ["RS256"],
        clockTolerance: TOLERANCE_SECONDS,
        requiredClaims: ["sub", "iat", "exp"],
      });
      return payload;
    };
    const known = this.#documents.keys(teamUrl);
    try {
      try {
        return await verify(known ?? (await this.#fetchKeys()));
      } catch (error) {
        const isKeyMissing = error instanceof JWKSNoMatchingKey;
        const isOld = known !== undefined && Date.now() / 1000 - known.uat > COOLDOWN_SECONDS;
        if (!isKeyMissing || !isOld) throw error;
        return await verify(await this.#fetchKeys());
      }
    } catch (cause) {
      if (!(cause instanceof JOSEError)) throw cause;
      const detail =
        'The statement of Cloudflare Access is not valid: forged, expired, or of another application; check "team" and "audience" in IDENTITY.';
      throw new SignInError("bad-token", detail, { cause });
    }
  }

  async #fetchKeys(): Promise<FetchedKeys> {
    const { teamUrl } = this.#config;
    const response = await this.#fetch(new URL("/cdn-cgi/access/certs", teamUrl), {});
    const jwks = tryJson(await response.text());
    if (!response.ok || !isObject(jwks) || !Array.isArray(jwks["keys"])) {
      throw new SignInError("provider-error", 'There are no keys at the team; check "team".');
    }
    const keys: FetchedKeys = { jwks: { keys: jwks["keys"] }, uat: Date.now() / 1000 };
    this.#documents.remember(teamUrl, keys);
    return keys;
  }

  async #isStanding(assertion: string): Promise<boolean> {
    const url = new URL("/cdn-cgi/access/get-identity", this.#config.teamUrl);
    const headers = { Cookie: `CF_Authorization=${assertion}` };
    return (await this.#fetch(url, { headers })).ok;
  }
}

function ended(detail = "The session at Cloudflare Access has ended."): Recheck {
  return { kind: "ended", detail };
}
