/**
 * The keys of sign-in, all derived from one root (HKDF, RFC 5869): the operator's secret, or the
 * one that the registry made. Each purpose has its own, so none can stand in for another.
 */

import { toBase64Url } from "../lib/base64url.ts";
import { deriveBytes } from "../lib/derive-bytes.ts";
import { importKey, keyId, type Keyring } from "../lib/seal.ts";

const USER_ID_CHARS = 26;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export interface AuthSecrets {
  /** Seals the stored data of a user's provider. */
  readonly ring: Keyring;
  /**
   * @returns the id of the user with this subject at a provider: always the same, and it reveals
   *   nothing.
   */
  userId(issuer: string, subject: string): Promise<string>;
  /**
   * @returns the token that a form of this browser session must contain, so that a form that another
   *   site posts has none that fits (cross-site request forgery).
   */
  formToken(session: string): Promise<string>;
  /** @returns a MAC of an owner code; without the key, no code can be tried against it. */
  ownerCodeMac(codeHash: string): Promise<string>;
}

/** @param root 32 random bytes or more. */
export async function authSecretsFrom(root: Uint8Array): Promise<AuthSecrets> {
  const sealing = await bytesFor(root, "seal");
  const id = await keyId(sealing);
  const users = await hmacKey(await bytesFor(root, "users"));
  const forms = await hmacKey(await bytesFor(root, "forms"));
  const ownerCodes = await hmacKey(await bytesFor(root, "owner-codes"));
  return {
    ring: { currentId: id, keys: new Map([[id, await importKey(sealing)]]) },
    async userId(issuer, subject) {
      const digest = await sign(users, JSON.stringify([issuer, subject]));
      const letters = [...digest.subarray(0, USER_ID_CHARS)];
      return `u_${letters.map((byte) => BASE32[byte % BASE32.length]).join("")}`;
    },
    formToken: async (session) => toBase64Url(await sign(forms, session)),
    ownerCodeMac: async (codeHash) => toBase64Url(await sign(ownerCodes, codeHash)),
  };
}

function bytesFor(root: Uint8Array, purpose: string): Promise<Uint8Array> {
  return deriveBytes(root, `edgeway/auth/${purpose}/1`);
}

function hmacKey(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

async function sign(key: CryptoKey, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
}
