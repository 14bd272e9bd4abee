/** Unguessable names and secrets, their comparison and their hash for storage. */

import { toBase64Url } from "./base64url.ts";

/** @returns 256 random bits as base64url, 43 characters. */
export function randomSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** A name that people can read out: without the letters that look like others. 5 bits a letter. */
export function randomName(length: number): string {
  return nameOf(crypto.getRandomValues(new Uint8Array(length)));
}

/** @returns a letter for each byte, as those of `randomName`. */
export function nameOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** @returns the SHA-256 hash that is stored of a secret, as base64url. */
export async function hashOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return toBase64Url(new Uint8Array(digest));
}

/** Compares two texts in constant time, except that it reveals whether their lengths are equal. */
export function isSame(a: string, b: string): boolean {
  const [one, other] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  return one.length === other.length && crypto.subtle.timingSafeEqual(one, other);
}
