/**
 * How the owner of a new gateway gets a code: by a link that is written where only the operator
 * reads, and that works once.
 */

export interface OwnerSetup {
  /** @returns the token of a new link; `undefined` while an earlier one works, or a code is there. */
  beginSetup(): Promise<string | undefined>;
  /** Whether a link works. */
  isSetupToken(token: string): Promise<boolean>;
  /** Makes the code. @returns `undefined` when the link does not work, or not any more. */
  finishSetup(token: string): Promise<string | undefined>;
}

export function setupPath(token: string): string {
  return `/setup?${new URLSearchParams({ token }).toString()}`;
}
