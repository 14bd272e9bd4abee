/** A client's key, and what it signs with it (RFC 7523). */

import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

import { ORIGIN } from "./gateway.ts";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export interface Statement {
  readonly aud?: string;
  readonly iss?: string;
  readonly sub?: string;
  readonly jti?: string;
  /** In how many seconds it expires. */
  readonly lasts?: number;
}

export class Signer {
  readonly #key: CryptoKey;
  readonly #alg: string;
  readonly jwks: { readonly keys: readonly JWK[] };

  private constructor(key: CryptoKey, alg: string, jwk: JWK) {
    this.#key = key;
    this.#alg = alg;
    this.jwks = { keys: [jwk] };
  }

  static async make(alg = "ES256"): Promise<Signer> {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    return new Signer(privateKey, alg, { ...(await exportJWK(publicKey)), kid: "k", alg });
  }

  /** The parameters that authenticate this client. */
  async parameters(clientId: string, statement: Statement = {}): Promise<Record<string, string>> {
    const { aud = ORIGIN, iss = clientId, sub = clientId, lasts = 60 } = statement;
    const { jti = crypto.randomUUID() } = statement;
    const now = Math.floor(Date.now() / 1000);
    const assertion = await new SignJWT({ iss, sub, aud, jti, iat: now, exp: now + lasts })
      .setProtectedHeader({ alg: this.#alg, kid: "k" })
      .sign(this.#key);
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
  }
}
