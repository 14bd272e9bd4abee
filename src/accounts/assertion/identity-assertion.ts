/**
 * Tells a server of the operator's own who is calling: a JWT that the gateway signs for that server alone
 * (ES256, RFC 7519), with a life of two minutes. The server verifies it with the keys at
 * `/.well-known/jwks.json`.
 *
 * It is no token passthrough: the client's token never travels, and the assertion is good at its audience
 * only.
 */

import { SignJWT } from "jose";

import { BoundedCache } from "../../lib/bounded-cache.ts";
import type { AssertedCaller } from "../../upstream/target.ts";
import type { IdentitySettings } from "../settings.ts";
import type { IdentityKeys } from "./identity-keys.ts";

/** What sign-in knows of a person. */
export interface PersonFacts {
  readonly email?: string;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface IdentityAssertionParts {
  readonly keys: IdentityKeys;
  /** Asked only for servers that may have such facts. */
  readonly factsOf: (person: string) => Promise<PersonFacts | undefined>;
  readonly now?: () => number;
}

/** The value of the `typ` header (RFC 8725 section 3.11): another token cannot stand in for this one. */
export const ASSERTION_TYPE = "edgeway-identity+jwt";
const LIFE_SECONDS = 120;
/** An assertion is signed once for this time, so that signing is not paid for each request. */
const REUSE_MS = 60_000;
const MAX_ENTRIES = 2000;

export class IdentityAssertions {
  readonly #parts: IdentityAssertionParts;
  readonly #signed = new BoundedCache<string>({ maxEntries: MAX_ENTRIES, ttlMs: REUSE_MS });

  constructor(parts: IdentityAssertionParts) {
    this.#parts = parts;
  }

  /** @returns the assertion of this caller for one server. */
  async of(settings: IdentitySettings, caller: AssertedCaller): Promise<string> {
    const key = JSON.stringify([settings.audience, settings.claims, caller]);
    const known = this.#signed.get(key);
    if (known !== undefined) return known;
    const signed = await this.#sign(settings, caller);
    this.#signed.set(key, signed);
    return signed;
  }

  async #sign(settings: IdentitySettings, caller: AssertedCaller): Promise<string> {
    const { keys, factsOf, now = () => Date.now() } = this.#parts;
    const { person, application, origin } = caller;
    const [{ kid, key }, facts] = await Promise.all([
      keys.signer(),
      settings.claims.length === 0 || person === undefined ? undefined : factsOf(person),
    ]);
    const issuedAt = Math.floor(now() / 1000);
    const claims: Record<string, unknown> = {};
    for (const claim of settings.claims) {
      const value = facts?.[claim];
      if (value !== undefined) claims[claim] = value;
    }
    if (application !== undefined) {
      claims["client_id"] = application;
      // RFC 8693 section 4.1: the application acts for the person. A service client acts for itself.
      if (application === person) claims["sub_type"] = "service";
      else claims["act"] = { sub: application };
    }
    // The lists that all callers share are read by the gateway itself.
    if (person === undefined) claims["sub_type"] = "gateway";
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", typ: ASSERTION_TYPE, kid })
      .setIssuer(origin)
      .setAudience(settings.audience)
      .setSubject(person ?? origin)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFE_SECONDS)
      .setJti(crypto.randomUUID())
      .sign(key);
  }
}
