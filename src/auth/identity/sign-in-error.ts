/** Why a sign-in does not happen, in words that are ours: no provider's text gets through here. */

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

export function signInRefused(reason: RefusalReason, detail: string): SignInRefused {
  return { kind: "refused", reason, detail };
}

/** Runs a step of a sign-in; what ends it becomes a refusal. Anything else is a bug, and thrown. */
export async function orRefused<T>(run: () => Promise<T>): Promise<T | SignInRefused> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SignInError) return signInRefused(error.reason, error.message);
    throw error;
  }
}
