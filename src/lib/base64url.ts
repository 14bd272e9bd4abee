/** Bytes as letters, digits, `_` and `-` (RFC 4648 section 5), without padding. */

export function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @returns `undefined` for everything but the one spelling that `toBase64Url` gives the bytes. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  // `atob` overlooks bits that are left over in the last character.
  return toBase64Url(bytes) === text ? bytes : undefined;
}
