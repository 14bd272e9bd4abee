/**
 * Tokens that only the holder of a key can make or read: JSON under AES-256-GCM, as visible ASCII:
 * `<key id>.<base64url of the initialization vector and the ciphertext>`. The purpose is
 * authenticated with the content, so a token made for one thing is nothing to another; and a token
 * has one spelling, so whoever compares tokens as text compares what they say.
 *
 * The vector is random, which is sound for 2^32 tokens under one key: keys have to be replaced.
 */

import { fromBase64Url, toBase64Url } from "./base64url.ts";
import { tryJson } from "./try-json.ts";

/** Keys by id. The current one seals; every one of them still opens. */
export interface KeyRing {
  readonly currentId: string;
  readonly keys: ReadonlyMap<string, CryptoKey>;
}

export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
/** Shorter than a vector, an authentication tag and one byte in between, nothing is a token. */
const TOKEN = /^([A-Za-z0-9]{1,16})\.([A-Za-z0-9_-]{39,})$/;

/** @throws RangeError for material of another length: AES would take 16 bytes, and be weaker. */
export async function importKey(bytes: Uint8Array): Promise<CryptoKey> {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`A key has ${KEY_BYTES} bytes`);
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** The name of a key, by which a token says what it was sealed with. It tells nothing of the key. */
export async function keyId(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, KEY_ID_BYTES), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** @param value anything that JSON can carry; it comes back as JSON carries it. */
export async function seal(ring: KeyRing, purpose: string, value: unknown): Promise<string> {
  const key = ring.keys.get(ring.currentId);
  if (key === undefined) throw new Error("The key ring has no current key");
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const plain = new TextEncoder().encode(JSON.stringify(value));
  const sealed = await crypto.subtle.encrypt(algorithm(iv, purpose, ring.currentId), key, plain);
  const token = new Uint8Array(IV_BYTES + sealed.byteLength);
  token.set(iv);
  token.set(new Uint8Array(sealed), IV_BYTES);
  return `${ring.currentId}.${toBase64Url(token)}`;
}

/**
 * @returns what was sealed, or `undefined` for a token that is forged, cut, spelt otherwise, of
 *   another purpose, or of a key that the ring does not have. Nothing tells the cases apart.
 */
export async function unseal(ring: KeyRing, purpose: string, token: string): Promise<unknown> {
  const [, id = "", text = ""] = TOKEN.exec(token) ?? [];
  const key = ring.keys.get(id);
  const bytes = fromBase64Url(text);
  if (key === undefined || bytes === undefined) return undefined;
  const iv = bytes.subarray(0, IV_BYTES);
  try {
    const sealed = bytes.subarray(IV_BYTES);
    const plain = await crypto.subtle.decrypt(algorithm(iv, purpose, id), key, sealed);
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
