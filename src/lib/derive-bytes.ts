/** Key material for one purpose, out of a root (HKDF with SHA-256, RFC 5869). */

import { KEY_BYTES } from "./seal.ts";

/**
 * @param root 32 random bytes or more.
 * @param purpose another one gives other bytes; none stands in for another.
 * @returns as many bytes as a key has.
 */
export async function deriveBytes(root: Uint8Array, purpose: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const info = new TextEncoder().encode(purpose);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, KEY_BYTES * 8));
}
