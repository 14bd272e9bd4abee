/** Names and secrets that nobody can guess, and how they are compared and kept. */

import { toBase64Url } from "./base64url.ts";

/** 256 bits as 43 letters, digits, `_` and `-`. */
export function randomSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** A name that people can read out: without the letters that look like others. 5 bits a letter. */
export function randomName(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** What is kept of a secret: enough to know it again, and nothing to use. */
export async function hashOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return toBase64Url(new Uint8Array(digest));
}

/** Compares in a time that does not tell where two texts differ. */
export function isSame(a: string, b: string): boolean {
  const [one, other] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  return one.length === other.length && crypto.subtle.timingSafeEqual(one, other);
}
