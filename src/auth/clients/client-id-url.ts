/**
 * Client ids that are URLs: `https://…` of a Client ID Metadata Document
 * (draft-ietf-oauth-client-id-metadata-document, section 3). The id is compared as a string
 * everywhere, in storage and in consents, so one document must have one spelling.
 */

const MAX_CHARS = 512;

/** @returns whether a client id claims to be the URL of a document; the claim is not checked. */
export function isDocumentUrl(clientId: string): boolean {
  return clientId.startsWith("https://");
}

/** @returns why this is not the address of a document, as a sentence; `undefined` when it is. */
export function judgeClientIdUrl(clientId: string): string | undefined {
  if (clientId.length > MAX_CHARS) return `The client id is longer than ${MAX_CHARS} characters.`;
  // Other characters than visible ASCII forge log lines, and a host of other letters looks like
  // another.
  if (!/^[\x21-\x7e]+$/.test(clientId)) return "The client id has characters that no address has.";
  if (!isDocumentUrl(clientId)) return "The client id is not an https address.";
  if (/[?#]/.test(clientId)) return "The client id has a query or a fragment.";
  if (/%(?![0-9a-f]{2})|%[01]|%7f/i.test(clientId)) return "The client id has broken escapes.";
  const url = URL.canParse(clientId) ? new URL(clientId) : undefined;
  // `URL` lowers the host, drops the default port, resolves dot segments and turns backslashes.
  if (url?.href !== clientId) return "The client id is not spelt as an address is.";
  if (url.username !== "" || url.password !== "") return "The client id has credentials in it.";
  if (url.pathname === "/") return "The client id has no path.";
  return undefined;
}

/** The host that vouches for an application: the host of the URL that is its client id. */
export function verifiedHost(clientId: string): string | undefined {
  return isDocumentUrl(clientId) && URL.canParse(clientId) ? new URL(clientId).host : undefined;
}
