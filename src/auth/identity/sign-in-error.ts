/** The reason for which a sign-in fails, in our own words: no provider's text passes through. */

import type { SignInRefused } from "./provider.ts";

export type RefusalReason =
  | "not-allowed"
  | "bad-state"
  | "bad-token"
  | "provider-error"
  | "provider-unreachable"
  | "wrong-code"
  | "not-set-up"
  | "not-fresh";

export class SignInError extends Error {
  override readonly name = "SignInError";
  readonly reason: RefusalReason;

  /** @param detail one plain sentence, without secrets. */
  constructor(reason: RefusalReason, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.reason = reason;
  }
}

/** The provider no longer accepts a token of the person. */
export class DeadTokenError extends SignInError {}

/** @returns whether the error is the provider's or the operator's word against the person. */
export function endsSignIn(error: SignInError): boolean {
  return error instanceof DeadTokenError || error.reason === "not-allowed";
}

export function signInRefused(reason: RefusalReason, detail: string): SignInRefused {
  return { kind: "refused", reason, detail };
}

/**
 * Runs a step of a sign-in, and turns a `SignInError` into a refusal. Any other error is a bug, and
 * is thrown.
 */
export async function orRefused<T>(run: () => Promise<T>): Promise<T | SignInRefused> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SignInError) return signInRefused(error.reason, error.message);
    throw error;
  }
}

/** @throws SignInError for a callback with another `state`, with none, or with several. */
export function checkState({ searchParams }: URL, state: string): void {
  const [only, ...others] = searchParams.getAll("state");
  if (only !== state || others.length > 0) {
    throw new SignInError("bad-state", "The answer belongs to another sign-in (state).");
  }
}
