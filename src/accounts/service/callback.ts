/** The query with which an authorization server sends the browser back, and what it means. Pure. */

import type { Trouble } from "../trouble.ts";

/** The parameters of an authorization response (RFC 6749 section 4.1.2, RFC 9207). */
export interface CallbackQuery {
  readonly state: string;
  readonly code?: string;
  readonly iss?: string;
  readonly error?: string;
}

/** What the attempt expects of the response. */
export interface ExpectedCallback {
  /** Absent where nobody has said who the authorization server is. */
  readonly expectedIssuer?: string;
  /** Its metadata says that it names itself in each response. */
  readonly namesItself: boolean;
}

const MAX_CHARS = 8192;
const NAMES = ["state", "code", "iss", "error"] as const;

/** @returns `undefined` for a query in which one of them stands twice, or without a `state`. */
export function readCallback(query: string): CallbackQuery | undefined {
  if (query.length > MAX_CHARS) return undefined;
  const params = new URLSearchParams(query);
  if (NAMES.some((name) => params.getAll(name).length > 1)) return undefined;
  const found = NAMES.flatMap((name) => {
    const value = params.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const { state = "", ...others } = Object.fromEntries(found) as Partial<CallbackQuery>;
  return state === "" ? undefined : { state, ...others };
}

export type CallbackVerdict =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "refused"; readonly code: Trouble };

/**
 * The issuer is compared first, byte for byte, and before anything else is used of the response (RFC 9207
 * section 2.4; 2026-07-28, authorization response validation): another server's error means nothing here.
 */
export function judgeCallback(
  { code = "", iss, error }: CallbackQuery,
  { expectedIssuer, namesItself }: ExpectedCallback,
): CallbackVerdict {
  const isMissing = iss === undefined && namesItself;
  const isOther = iss !== undefined && expectedIssuer !== undefined && iss !== expectedIssuer;
  if (iss === "" || isMissing || isOther) return { kind: "refused", code: "iss-mismatch" };
  if (error === "access_denied") return { kind: "refused", code: "declined" };
  if (error !== undefined || code === "") return { kind: "refused", code: "authorization-failed" };
  return { kind: "code", code };
}
