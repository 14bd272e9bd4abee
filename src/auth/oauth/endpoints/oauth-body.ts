/**
 * Reads the body of a POST to an OAuth endpoint, with the right media type and a limit of its size.
 */

import { mediaType } from "../../../lib/media-type.ts";
import { readText, TooLargeError } from "../../../lib/read-text.ts";
import { oauthMethodNotAllowed, oauthError } from "./oauth-error.ts";

export type OAuthBody =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly response: Response };

/** A signed assertion and a list of redirect URIs take a few KiB. */
const MAX_BYTES = 16 * 1024;

/**
 * @param type the media type that the endpoint accepts (RFC 6749 section 4.1.3, RFC 7591 section
 *   3.1).
 */
export async function readOAuthBody(request: Request, type: string): Promise<OAuthBody> {
  if (request.method !== "POST") return refuse(oauthMethodNotAllowed("POST, OPTIONS"));
  if (mediaType(request.headers.get("content-type")) !== type) {
    return refuse(oauthError("invalid_request", `Content-Type must be ${type}`));
  }
  const tooLarge = (): OAuthBody =>
    refuse(oauthError("invalid_request", `The body is over ${MAX_BYTES} bytes`, { status: 413 }));
  // A declared length is trusted only when it is over the limit.
  if (Number(request.headers.get("content-length")) > MAX_BYTES) return tooLarge();
  try {
    return { ok: true, text: await readText(request.body, MAX_BYTES) };
  } catch (error) {
    if (error instanceof TooLargeError) return tooLarge();
    return refuse(oauthError("invalid_request", "The body broke off"));
  }
}

function refuse(response: Response): OAuthBody {
  return { ok: false, response };
}
