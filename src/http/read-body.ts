/** Reads a POST's body: checks the media types and the limits, and parses the JSON. */

import { tryLossless } from "../lib/lossless-json.ts";
import { accepts, mediaType } from "../lib/media-type.ts";
import { NotUtf8Error, readText, TooLargeError } from "../lib/read-text.ts";
import { scanJson } from "../lib/scan-json.ts";
import type { Limits } from "../policy/limits.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { rpcError } from "./answers.ts";

export type Body =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly response: Response };

/**
 * @param acceptable the media types that `Accept` must list: both for Streamable HTTP, where the server
 *   chooses (2025-03-26 to 2026-07-28: client MUST list both).
 * @returns the body as a value and as its text, or the refusal: 400, 406, 413 or 415.
 */
export async function readBody(
  request: Request,
  limits: Limits,
  acceptable: readonly string[],
): Promise<Body> {
  const accept = request.headers.get("accept");
  if (!acceptable.every((type) => accepts(accept, type))) {
    return refuse(406, ErrorCode.Transport, `Accept must list ${acceptable.join(" and ")}`);
  }
  if (mediaType(request.headers.get("content-type")) !== "application/json") {
    return refuse(415, ErrorCode.Transport, "Content-Type must be application/json");
  }
  const tooLarge = `The body is over the limit of ${limits.maxBodyBytes} bytes`;
  // A declared length is trusted only when it is already too much.
  if (Number(request.headers.get("content-length")) > limits.maxBodyBytes) {
    return refuse(413, ErrorCode.InvalidRequest, tooLarge);
  }
  let text: string;
  try {
    text = await readText(request.body, limits.maxBodyBytes, true);
  } catch (error) {
    if (error instanceof TooLargeError) return refuse(413, ErrorCode.InvalidRequest, tooLarge);
    // JSON between systems MUST be UTF-8 (RFC 8259, section 8.1).
    const message = error instanceof NotUtf8Error ? "The body is not UTF-8" : "The body broke off";
    return refuse(400, ErrorCode.ParseError, message);
  }
  const { depth, inexact } = scanJson(text, { depth: limits.maxJsonDepth });
  if (depth > limits.maxJsonDepth) {
    const message = `The body nests deeper than ${limits.maxJsonDepth} levels`;
    return refuse(400, ErrorCode.InvalidRequest, message);
  }
  const value = tryLossless(text, inexact);
  if (value === undefined) return refuse(400, ErrorCode.ParseError, "The body is not valid JSON");
  return { ok: true, value, text };
}

function refuse(status: number, code: number, message: string): Body {
  return { ok: false, response: rpcError(status, { code, message }) };
}
