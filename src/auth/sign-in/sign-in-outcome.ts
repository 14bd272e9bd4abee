/** What comes of a request on the way to a sign-in; the pages make responses of it. */

import type { User } from "../store/users.ts";
import type { Changes } from "./approval-rules.ts";
import type { Attempt, AuthorizeContent } from "./attempt.ts";
import type { Ending } from "./ending.ts";

/** Whether an application may act for somebody has to be asked. */
export interface ConsentQuestion {
  readonly kind: "consent";
  readonly handle: string;
  readonly content: AuthorizeContent;
  /** Who is signed in. */
  readonly user: User | undefined;
  readonly changes: Changes;
  readonly cookies?: readonly string[];
}

/** Who somebody is has to be asked. */
export interface SignInQuestion {
  readonly kind: "sign-in";
  readonly attempt: Attempt;
  /** What was wrong with the last answer. */
  readonly complaint?: Complaint;
  readonly cookies?: readonly string[];
}

export type Complaint =
  | { readonly kind: "wrong-code" }
  /** There were too many wrong ones. */
  | { readonly kind: "wait"; readonly seconds: number }
  /** There is no right one yet. */
  | { readonly kind: "not-set-up" };

export type SignInOutcome = Ending | ConsentQuestion | SignInQuestion;
