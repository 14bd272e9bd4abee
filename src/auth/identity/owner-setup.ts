/**
 * The port by which the owner of a new gateway gets a code: a link that works once, written where
 * only the operator can read it.
 */

export interface OwnerSetup {
  /** @returns the token of a new link; `undefined` while an earlier one works, or a code exists. */
  beginSetup(): Promise<string | undefined>;
  /** @returns whether the link works. */
  isSetupToken(token: string): Promise<boolean>;
  /** Makes the code. @returns `undefined` when the link does not work, or no longer works. */
  finishSetup(token: string): Promise<string | undefined>;
}

export function setupPath(token: string): string {
  return `/setup?${new URLSearchParams({ token }).toString()}`;
}
