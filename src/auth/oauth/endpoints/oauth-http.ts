/**
 * The bodies of requests to the OAuth endpoints, and their responses: JSON that must not be stored
 * (RFC 6749 sections 5.1 and 5.2).
 */

import { mediaType } from "../../../lib/media-type.ts";
import { readText, TooLargeError } from "../../../lib/read-text.ts";
import { logUnexpected } from "../../../observability/unexpected.ts";

/** A signed assertion and a list of redirect URIs take a few KiB. */
const MAX_BYTES = 16 * 1024;
const NOT_STORED = { "Cache-Control": "no-store", Pragma: "no-cache" };

/**
 * @param type the media type that the endpoint accepts (RFC 6749 section 4.1.3, RFC 7591 section
 *   3.1).
 * @returns the body of a POST, or the refusal.
 */
export async function readOAuthBody(request: Request, type: string): Promise<string | Response> {
  if (request.method !== "POST") return oauthMethodNotAllowed("POST, OPTIONS");
  if (mediaType(request.headers.get("content-type")) !== type) {
    return oauthError("invalid_request", `Content-Type must be ${type}`);
  }
  const tooLarge = (): Response =>
    oauthError("invalid_request", `The body is over ${MAX_BYTES} bytes`, { status: 413 });
  // A declared length is trusted only when it is over the limit.
  if (Number(request.headers.get("content-length")) > MAX_BYTES) return tooLarge();
  try {
    return await readText(request.body, MAX_BYTES);
  } catch (error) {
    if (error instanceof TooLargeError) return tooLarge();
    return oauthError("invalid_request", "The body broke off");
  }
}

export interface OAuthResponseOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function oauthJson(
  body: Readonly<Record<string, unknown>>,
  { status = 200, headers = {} }: OAuthResponseOptions = {},
): Response {
  return Response.json(body, { status, headers: { ...NOT_STORED, ...headers } });
}

/**
 * @param error a registered code (RFC 6749 section 5.2, RFC 7591 section 3.2.2, RFC 8707 section
 *   2).
 * @param description for the developer of a client: ASCII, without any value that was sent.
 */
export function oauthError(
  error: string,
  description: string,
  { status = 400, headers = {} }: OAuthResponseOptions = {},
): Response {
  return oauthJson({ error, error_description: description }, { status, headers });
}

/** @param allow the methods that the endpoint has, as in the `Allow` header. */
export function oauthMethodNotAllowed(allow: string): Response {
  const options = { status: 405, headers: { Allow: allow } };
  return oauthError("invalid_request", `The method has to be ${allow.split(",")[0]}`, options);
}

/** @param seconds the pause after which the client may try again (`Retry-After`). */
export function tooManyRequests(description: string, seconds: number): Response {
  const options = { status: 429, headers: { "Retry-After": String(seconds) } };
  return oauthError("temporarily_unavailable", description, options);
}

/** The answer to a request that failed inside the gateway: an object that is out of reach comes back. */
export function unavailable(error: unknown): Response {
  const description = `Something went wrong here (reference ${logUnexpected(error)})`;
  const options = { status: 503, headers: { "Retry-After": "2" } };
  return oauthError("temporarily_unavailable", description, options);
}

/** @returns the answer; `unavailable` when there is none. */
export async function orUnavailable(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    return unavailable(error);
  }
}

/**
 * @param authorization the header of a client that tried HTTP authentication: RFC 6749 section 5.2
 *   has that answered with a challenge (401).
 */
export function invalidClient(
  description: string,
  { authorization }: { readonly authorization: string | null },
): Response {
  const headers = authorization === null ? {} : { "WWW-Authenticate": 'Basic realm="OAuth"' };
  return oauthError("invalid_client", description, { status: 401, headers });
}

/** The library's response without the headers that the gateway sets on every response itself. */
export function asOurs(response: Response): Response {
  const headers = new Headers(response.headers);
  for (const name of [...headers.keys()]) {
    if (name.startsWith("access-control-") || name === "vary") headers.delete(name);
  }
  for (const [name, value] of Object.entries(NOT_STORED)) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}
