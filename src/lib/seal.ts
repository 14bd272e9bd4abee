/**
 * Tokens that only the holder of a key can make or read: JSON under AES-256-GCM, as visible ASCII:
 * `<key id>.2.<base64url of the salt, the initialization vector and the ciphertext>`. The purpose is
 * authenticated with the content, so a token for one purpose is invalid for another. A token has exactly
 * one spelling, so comparing tokens as text compares their contents.
 *
 * Initialization vectors are random, which is sound for 2^32 tokens under one key (NIST SP 800-38D
 * section 8.3). The tokens of all isolates are not counted, and an operator's key may never be replaced.
 * So each token has its own key, derived with a random salt (HKDF, RFC 5869): a collision needs two equal
 * vectors under one salt of 128 bits, so the number of tokens has no practical limit.
 *
 * A token without the `2` was sealed with the key itself by an earlier version. Such tokens are still
 * opened, but no longer made.
 */

import { fromBase64Url, toBase64Url } from "./base64url.ts";
import { tryLossless } from "./lossless-json.ts";

export interface SealKey {
  /** The key of each token is derived from this one. */
  readonly root: CryptoKey;
  /** Opens tokens that an earlier version sealed with the key itself. */
  readonly direct: CryptoKey;
}

/** Keys by id. The current one seals; all of them open. */
export interface Keyring {
  readonly currentId: string;
  readonly keys: ReadonlyMap<string, SealKey>;
}

export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const DERIVATION = new TextEncoder().encode("edgeway/seal/2");
/** At least a vector, one byte of ciphertext and an authentication tag: 39 characters of base64url. */
const TOKEN = /^([A-Za-z0-9]{1,16})\.(2\.)?([A-Za-z0-9_-]{39,})$/;

/** @throws RangeError for material of another length: AES would accept 16 bytes, and be weaker. */
export async function importKey(bytes: Uint8Array): Promise<SealKey> {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`A key has ${KEY_BYTES} bytes`);
  const [root, direct] = await Promise.all([
    crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]),
    crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["decrypt"]),
  ]);
  return { root, direct };
}

function derive(
  { root }: SealKey,
  salt: Uint8Array,
  usage: "encrypt" | "decrypt",
): Promise<CryptoKey> {
  const parameters = { name: "HKDF", hash: "SHA-256", salt, info: DERIVATION };
  const algorithm = { name: "AES-GCM", length: KEY_BYTES * 8 };
  return crypto.subtle.deriveKey(parameters, root, algorithm, false, [usage]);
}

/** The public id of a key, which a token carries. It reveals nothing usable about the key. */
export async function keyId(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, KEY_ID_BYTES), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** @param value any JSON value; `unseal` returns it as JSON preserves it. */
export async function seal(ring: Keyring, purpose: string, value: unknown): Promise<string> {
  const key = ring.keys.get(ring.currentId);
  if (key === undefined) throw new Error("The key ring has no current key");
  const nonce = crypto.getRandomValues(new Uint8Array(SALT_BYTES + IV_BYTES));
  const plain = new TextEncoder().encode(JSON.stringify(value));
  const own = await derive(key, nonce.subarray(0, SALT_BYTES), "encrypt");
  const parameters = algorithm(nonce.subarray(SALT_BYTES), purpose, ring.currentId);
  const sealed = await crypto.subtle.encrypt(parameters, own, plain);
  const token = new Uint8Array(nonce.length + sealed.byteLength);
  token.set(nonce);
  token.set(new Uint8Array(sealed), nonce.length);
  return `${ring.currentId}.2.${toBase64Url(token)}`;
}

/**
 * @returns the sealed value, or `undefined` for a token that is forged, cut, misspelt, of another
 *   purpose, or of a key that the ring does not have. The cases cannot be distinguished.
 */
export async function unseal(ring: Keyring, purpose: string, token: string): Promise<unknown> {
  const [, id = "", version, text = ""] = TOKEN.exec(token) ?? [];
  const key = ring.keys.get(id);
  const bytes = fromBase64Url(text);
  if (key === undefined || bytes === undefined) return undefined;
  const saltBytes = version === undefined ? 0 : SALT_BYTES;
  const iv = bytes.subarray(saltBytes, saltBytes + IV_BYTES);
  const sealed = bytes.subarray(saltBytes + IV_BYTES);
  try {
    const own =
      saltBytes === 0 ? key.direct : await derive(key, bytes.subarray(0, saltBytes), "decrypt");
    const plain = await crypto.subtle.decrypt(algorithm(iv, purpose, id), own, sealed);
    return tryLossless(new TextDecoder().decode(plain));
  } catch {
    return undefined; // the authentication tag does not match
  }
}

/** @returns the id of the key that a token claims to be sealed with; the claim is not checked. */
export function sealedWith(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** A key id has no dot, so the purpose cannot be confused with a part of it. */
function algorithm(iv: Uint8Array, purpose: string, id: string): SubtleCryptoEncryptAlgorithm {
  const additionalData = new TextEncoder().encode(`${id}.${purpose}`);
  return { name: "AES-GCM", iv, additionalData };
}
