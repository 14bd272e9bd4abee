/**
 * The current standing of a user. The stored record shows who the person was when they signed in;
 * the current configuration decides each time whether they are admitted, and with which rights. So
 * no user keeps a right that the operator has withdrawn.
 */

import type { IdentityProvider, Standing } from "../identity/provider.ts";
import type { User } from "./users.ts";

/** A user whom the current configuration admits. */
export type CurrentUser = User & Standing;

export interface StandingContext {
  readonly providers: ReadonlyMap<string, IdentityProvider>;
}

/**
 * @param codeMac the MAC in the session, grant or key that is judged (`SignInResult.codeMac`).
 * @returns `undefined` for a user who may not be served. Rejects when that cannot be decided.
 */
export async function currentUser(
  { providers }: StandingContext,
  user: User | undefined,
  codeMac: string | undefined,
): Promise<CurrentUser | undefined> {
  if (user === undefined || user.isDisabled) return undefined;
  const standing = await providers.get(user.provider)?.standing(user, codeMac);
  return standing === undefined ? undefined : { ...user, ...standing };
}
