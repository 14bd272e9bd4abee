/** Somebody who is signed in. */

import type { CurrentUser } from "../store/standing.ts";

export interface SignedInPerson {
  readonly user: CurrentUser;
  /** When they proved who they are, in milliseconds since 1970; 0 when nobody can say. */
  readonly authenticatedAt: number;
  /** Of the owner code that they signed in with, if they did. */
  readonly codeMac?: string;
}
