/** Somebody who is signed in. */

import type { User } from "../store/users.ts";

export interface Person {
  readonly user: User;
  /** When they proved who they are, in milliseconds since 1970; 0 when nobody can say. */
  readonly authenticatedAt: number;
}
