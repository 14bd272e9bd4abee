/**
 * Tells a server of the operator's own who is calling: a JWT that the gateway signs for that server alone
 * (ES256, RFC 7519), with a life of two minutes. The server verifies it with the keys at
 * `/.well-known/jwks.json`.
 *
 * It is no token passthrough: the client's token never travels, and the assertion is good at its audience
 * only.
 */

import { toBase64Url } from "../../lib/base64url.ts";
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
const ES256 = { name: "ECDSA", hash: "SHA-256" };
const UTF8 = new TextEncoder();

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
    return signed({ alg: "ES256", typ: ASSERTION_TYPE, kid }, key, {
      ...claims,
      iss: origin,
      aud: settings.audience,
      sub: person ?? origin,
      iat: issuedAt,
      exp: issuedAt + LIFE_SECONDS,
      jti: crypto.randomUUID(),
    });
  }
}

/** A JWS in its compact form (RFC 7515 section 7.1), with ES256 (RFC 7518 section 3.4). */
async function signed(header: object, key: CryptoKey, claims: object): Promise<string> {
  const encoded = (part: object): string => toBase64Url(UTF8.encode(JSON.stringify(part)));
  const input = `${encoded(header)}.${encoded(claims)}`;
  const signature = await crypto.subtle.sign(ES256, key, UTF8.encode(input));
  return `${input}.${toBase64Url(new Uint8Array(signature))}`;
}
