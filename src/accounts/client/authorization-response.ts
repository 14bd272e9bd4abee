/** The authorization response (RFC 6749 section 4.1.2), and whom it is from (RFC 9207). */

import type { Trouble } from "../trouble.ts";

/** The callback's parameters. Hostile text until the attempt and the issuer have been compared. */
export interface AuthorizationResponse {
  readonly state: string;
  readonly code?: string;
  readonly error?: string;
  readonly iss?: string;
}

const MAX_LENGTH = 8192;
const NAMES = ["state", "code", "error", "iss"] as const;

/** @returns `undefined` when one comes twice, or is empty or too long, or there is no `state`. */
export function parseAuthorizationResponse(query: string): AuthorizationResponse | undefined {
  if (query.length > 4 * MAX_LENGTH) return undefined;
  const parameters = new URLSearchParams(query);
  const read: Partial<Record<(typeof NAMES)[number], string>> = {};
  for (const name of NAMES) {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0 || (value?.length ?? 0) > MAX_LENGTH) return undefined;
    // An empty `iss` stays: it is nobody's, and must not count as absent.
    if (value === "" && name !== "iss") return undefined;
    if (value !== undefined) read[name] = value;
  }
  const { state, ...others } = read;
  return state === undefined ? undefined : { state, ...others };
}

export type AuthorizationOutcome =
  | { readonly kind: "code"; readonly code: string }
  | {
      readonly kind: "failed";
      readonly trouble: Extract<
        Trouble,
        "iss-mismatch" | "declined" | "scope-refused" | "resource-refused" | "authorization-failed"
      >;
    };

/**
 * Compares the issuer before anything else is used, by byte (2026-07-28, Authorization Response
 * Validation): an answer that another authorization server may have sent tells nothing, not even its error.
 *
 * @param issuer as it was recorded when the browser was sent away; absent where nobody has said who it is.
 * @param sendsIss `authorization_response_iss_parameter_supported`.
 */
export function judgeAuthorizationResponse(
  { code, error, iss }: AuthorizationResponse,
  { issuer, sendsIss }: { readonly issuer: string | undefined; readonly sendsIss: boolean },
): AuthorizationOutcome {
  const isFromIssuer = iss === undefined ? !sendsIss : iss !== "" && iss === (issuer ?? iss);
  if (!isFromIssuer) return { kind: "failed", trouble: "iss-mismatch" };
  if (error === undefined && code !== undefined) return { kind: "code", code };
  switch (error) {
    case "access_denied":
      return { kind: "failed", trouble: "declined" };
    case "invalid_scope":
      return { kind: "failed", trouble: "scope-refused" };
    case "invalid_target":
      return { kind: "failed", trouble: "resource-refused" };
    default:
      return { kind: "failed", trouble: "authorization-failed" };
  }
}
