/** The metadata of a client (RFC 7591 section 2), from a registration or from a document. */

/** The grant types that a client may list. */
export const GRANT_TYPES = ["authorization_code", "refresh_token"];

export function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** @returns whether the value is a URL with one of these schemes; a link to another is not shown. */
export function isLink(value: unknown, schemes: readonly string[]): boolean {
  return (
    typeof value === "string" && URL.canParse(value) && schemes.includes(new URL(value).protocol)
  );
}
