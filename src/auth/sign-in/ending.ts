/** The outcome of a step of a sign-in that ends it without a further question. */

export type ProblemKind =
  | "unreadable"
  | "too-long"
  | "limited"
  | "unknown-client"
  | "client-document"
  | "bad-redirect"
  | "client-changed"
  | "attempt-gone"
  | "foreign-form"
  | "no-form"
  | "nothing-chosen"
  | "not-allowed"
  | "disabled"
  | "bad-return"
  | "provider-failed"
  | "provider-unreachable"
  | "not-fresh"
  | "no-statement"
  | "setup-gone";

interface Common {
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
}

/** The person is shown that the sign-in cannot continue. */
export interface Problem extends Common {
  readonly kind: "problem";
  readonly problem: ProblemKind;
  /** The reference under which the operator finds it. */
  readonly reference?: string;
  /** A more exact sentence of ours on what happened. */
  readonly sentence?: string;
  readonly retryAfterSeconds?: number;
}

export interface Redirect extends Common {
  readonly kind: "redirect";
  /** A path of this gateway, or a checked URL. */
  readonly location: string;
}

/**
 * An answer for an application for which no trusted host vouches: the person is asked to follow the
 * link (RFC 9700 section 4.11.2: an authorization server must not be an open redirector).
 */
export interface ReturnLink extends Common {
  readonly kind: "return-link";
  readonly href: string;
  /** The OAuth error code in the answer. */
  readonly error: string;
  readonly reference: string;
}

export type Ending = Problem | Redirect | ReturnLink;

export function redirect(location: string): Redirect {
  return { kind: "redirect", location };
}

export function withCookies<T extends Common>(ending: T, cookies: readonly string[]): T {
  return { ...ending, cookies: [...(ending.cookies ?? []), ...cookies] };
}

export function problem(
  kind: ProblemKind,
  more: Pick<Problem, "reference" | "sentence" | "retryAfterSeconds"> = {},
): Problem {
  return { kind: "problem", problem: kind, ...more };
}
