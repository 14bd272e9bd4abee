/** A person who is signed in. */

import type { CurrentUser } from "../store/users.ts";

export interface SignedInPerson {
  readonly user: CurrentUser;
  /** When they authenticated, in milliseconds since 1970; 0 when that is unknown. */
  readonly authenticatedAt: number;
  /** The MAC of the owner code that they signed in with, if they did. */
  readonly codeMac?: string;
}
