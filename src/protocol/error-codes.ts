/**
 * Every JSON-RPC error code that Edgeway sends or reads, and the HTTP status that carries it
 * on the modern wire. One table, so that a code never means two things.
 */

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** The implementation's own area: receivers assume no meaning (2026-07-28, basic, error codes). */
  Transport: -32000,
  /** The official SDKs send it with 404 for an unknown session. */
  SessionNotFound: -32001,
  /** Only before 2026-07-28, which uses `InvalidParams`. */
  ResourceNotFound: -32002,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
  /** 2025-11-25 alone (elicitation, URL mode); 2026-07-28 MUST NOT send it. */
  UrlElicitationRequired: -32042,
} as const;

/** Codes that only a server of 2026-07-28 sends: they prove its era. */
const MODERN_CODES: ReadonlySet<number> = new Set([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

export function isModernErrorCode(code: number): boolean {
  return MODERN_CODES.has(code);
}

/**
 * The HTTP status of an error that ends a modern request before anything was streamed
 * (2026-07-28, Streamable HTTP: the four MUSTs). Errors of a handler have status 200.
 */
export function modernHttpStatus(code: number): 200 | 400 | 404 {
  if (MODERN_CODES.has(code)) return 400;
  return code === ErrorCode.MethodNotFound ? 404 : 200;
}
