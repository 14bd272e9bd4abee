/** What a step on the way to a sign-in ends in, when nothing is left to be asked. */

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

/** Somebody has to be told that it goes no further. */
export interface Problem extends Common {
  readonly kind: "problem";
  readonly problem: ProblemKind;
  /** Under which the operator finds it. */
  readonly reference?: string;
  /** What happened, in our words, where it can be said more exactly. */
  readonly sentence?: string;
  readonly retryAfterSeconds?: number;
}

export interface Redirect extends Common {
  readonly kind: "redirect";
  /** A path of ours, or an address that was checked. */
  readonly location: string;
}

/**
 * An answer for an application that nobody vouches for: the person is asked to take it there
 * (RFC 9700 section 4.11.2: an authorization server is no open redirector).
 */
export interface ReturnLink extends Common {
  readonly kind: "return-link";
  readonly href: string;
  /** The OAuth error that the answer carries. */
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
