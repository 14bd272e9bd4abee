/**
 * Checks of an ID token beyond those of the library (algorithm, signature, issuer, audience,
 * expiry, nonce, authorized party): its age, and that it belongs to the access token.
 */

import { decodeProtectedHeader } from "jose";

import { toBase64Url } from "../../lib/base64url.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import { SignInError } from "./sign-in-error.ts";

/**
 * Asymmetric only: with HS256, anyone who knows the public key could sign. A list of our own,
 * because a provider's metadata may name algorithms that are for other clients.
 */
export const ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];
export const TOLERANCE_SECONDS = 30;
const MAX_AGE_SECONDS = 600;

/** @param token a token that the library has validated, with its claims. */
export async function checkIdToken(
  token: string,
  claims: JsonObject,
  accessToken: string,
): Promise<void> {
  const { iat, at_hash: expected } = claims;
  const now = Date.now() / 1000;
  if (typeof iat !== "number" || iat > now + TOLERANCE_SECONDS) {
    throw new SignInError("bad-token", "The ID token was issued in the future; check the clocks.");
  }
  if (iat < now - MAX_AGE_SECONDS - TOLERANCE_SECONDS) {
    throw new SignInError("bad-token", "The ID token was issued too long ago.");
  }
  // OpenID Connect Core 3.1.3.8: optional, but if it is there it has to fit.
  if (expected !== undefined && expected !== (await halfHash(token, accessToken))) {
    throw new SignInError("bad-token", "The ID token belongs to another access token (at_hash).");
  }
}

/** The left half of the hash that goes with the token's algorithm; Ed25519 hashes with SHA-512. */
async function halfHash(token: string, accessToken: string): Promise<string> {
  const { alg } = decodeProtectedHeader(token);
  const algorithm = alg?.endsWith("256") === true ? "SHA-256" : "SHA-512";
  const hash = await crypto.subtle.digest(algorithm, new TextEncoder().encode(accessToken));
  return toBase64Url(new Uint8Array(hash, 0, hash.byteLength / 2));
}
