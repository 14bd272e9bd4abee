/**
 * How a client secret is sent (RFC 6749 section 2.3.1). Basic wants id and secret form-encoded, and
 * servers disagree on whether they decode them: so Basic is used where both ways give the same text, and
 * the body where that is offered.
 */

/** The characters that form encoding leaves as they are. */
const PLAIN = /^[A-Za-z0-9*._-]*$/;

export interface SecretClient {
  readonly id: string;
  readonly secret: string;
}

/**
 * @param offered `token_endpoint_auth_methods_supported`; its default is Basic (RFC 8414 section 2).
 */
export function secretMethod(
  { id, secret }: SecretClient,
  offered: readonly string[] | undefined,
): "client_secret_basic" | "client_secret_post" {
  const takesPost = offered?.includes("client_secret_post") ?? false;
  if (!takesPost) return "client_secret_basic";
  const takesBasic = offered?.includes("client_secret_basic") ?? true;
  const isSame = PLAIN.test(id) && PLAIN.test(secret);
  return takesBasic && isSame ? "client_secret_basic" : "client_secret_post";
}

/**
 * @param isRaw without the encoding, for servers that do not decode it.
 * @returns the value of `Authorization`.
 */
export function basicCredentials({ id, secret }: SecretClient, isRaw = false): string {
  const encode = isRaw ? (text: string) => text : formEncode;
  const bytes = new TextEncoder().encode(`${encode(id)}:${encode(secret)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** `application/x-www-form-urlencoded`, which unlike `encodeURIComponent` leaves `*-._` as they are. */
function formEncode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
