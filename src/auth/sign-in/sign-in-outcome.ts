/** The outcomes of a request on the way to a sign-in; the pages turn them into responses. */

import type { User } from "../store/users.ts";
import type { Changes } from "./approval-rules.ts";
import type { Attempt, AuthorizeContent } from "./attempt.ts";
import type { Ending } from "./ending.ts";

/** The person has to be asked whether an application may act for them. */
export interface ConsentQuestion {
  readonly kind: "consent";
  readonly handle: string;
  readonly content: AuthorizeContent;
  /** The signed-in user. */
  readonly user: User | undefined;
  readonly changes: Changes;
  readonly cookies?: readonly string[];
}

/** The person has to be asked to sign in. */
export interface SignInQuestion {
  readonly kind: "sign-in";
  readonly attempt: Attempt;
  /** The error of the last answer. */
  readonly complaint?: Complaint;
  readonly cookies?: readonly string[];
}

export type Complaint =
  | { readonly kind: "wrong-code" }
  /** Too many wrong codes were entered. */
  | { readonly kind: "wait"; readonly seconds: number }
  /** No code exists yet. */
  | { readonly kind: "not-set-up" };

export type SignInOutcome = Ending | ConsentQuestion | SignInQuestion;
