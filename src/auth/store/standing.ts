/**
 * Who somebody is today. What is kept of a person says who they were when they signed in; whether
 * they are let in, and as what, the configuration of today decides each time anew. So nobody keeps
 * what an operator has withdrawn.
 */

import type { IdentityProvider, Standing } from "../identity/provider.ts";
import type { User } from "./users.ts";

/** A user whom today's configuration lets in. */
export type CurrentUser = User & Standing;

export interface StandingContext {
  readonly providers: ReadonlyMap<string, IdentityProvider>;
}

/**
 * @param codeMac remembered in the session, grant or key that is judged (`SignInResult.codeMac`).
 * @returns `undefined` for somebody who may not be served. Rejects when nobody can say.
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
