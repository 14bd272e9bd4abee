/**
 * Tokens that only the holder of a key can make or read: JSON under AES-256-GCM, as visible ASCII:
 * `<key id>.2.<base64url of the salt, the initialization vector and the ciphertext>`. The purpose is
 * authenticated with the content, so a token made for one thing is nothing to another; and a token
 * has one spelling, so whoever compares tokens as text compares what they say.
 *
 * Initialization vectors are random, which is sound for 2^32 tokens under one key (NIST SP 800-38D
 * section 8.3). Nobody counts the tokens of all isolates, and an operator's key may never be replaced.
 * So each token has a key of its own, derived with a random salt (HKDF, RFC 5869): two vectors would
 * have to meet under one salt of 128 bits, which bounds no use that a key can have.
 *
 * A token without the `2` was sealed with the key itself, by an earlier version. It is opened for as
 * long as it lives, and none is made any more.
 */

import { fromBase64Url, toBase64Url } from "./base64url.ts";
import { tryJson } from "./try-json.ts";

export interface SealKey {
  /** What the key of each token is derived from. */
  readonly root: CryptoKey;
  /** Opens what an earlier version sealed with the key itself. */
  readonly direct: CryptoKey;
}

/** Keys by id. The current one seals; every one of them still opens. */
export interface Keyring {
  readonly currentId: string;
  readonly keys: ReadonlyMap<string, SealKey>;
}

export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const DERIVATION = new TextEncoder().encode("edgeway/seal/2");
/** Shorter than a vector, an authentication tag and one byte in between, nothing is a token. */
const TOKEN = /^([A-Za-z0-9]{1,16})\.(2\.)?([A-Za-z0-9_-]{39,})$/;

/** @throws RangeError for material of another length: AES would take 16 bytes, and be weaker. */
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

/** The name of a key, by which a token says what it was sealed with. It tells nothing of the key. */
export async function keyId(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, KEY_ID_BYTES), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** @param value anything that JSON can carry; it comes back as JSON carries it. */
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
 * @returns what was sealed, or `undefined` for a token that is forged, cut, spelt otherwise, of
 *   another purpose, or of a key that the ring does not have. Nothing tells the cases apart.
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
    return tryJson(new TextDecoder().decode(plain));
  } catch {
    return undefined; // the authentication tag does not fit
  }
}

/** @returns the id of the key that a token claims to be sealed with; the claim is not checked. */
export function sealedWith(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** The id of a key has no dot, so no purpose can be mistaken for a part of it. */
function algorithm(iv: Uint8Array, purpose: string, id: string): SubtleCryptoEncryptAlgorithm {
  const additionalData = new TextEncoder().encode(`${id}.${purpose}`);
  return { name: "AES-GCM", iv, additionalData };
}
