/**
 * An attempt to sign in, as the Worker handles it: a person on the way to an application, or to the
 * gateway's own pages; and the outcomes of its steps, which the pages turn into responses.
 */

import type { AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Stage } from "../store/attempts.ts";
import type { CurrentUser, User } from "../store/users.ts";
import type { AskingClient } from "./asking-client.ts";

interface Common {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** A session from before the attempt is not enough. */
  readonly needsLogin: boolean;
  /**
   * The provider to which the browser was redirected, and the data that is needed when it returns.
   */
  readonly departure?: { readonly provider: string; readonly memory: JsonObject };
}

/** An application requests access for a user. */
export interface AuthorizeContent extends Common {
  readonly kind: "authorize";
  readonly request: AuthRequest & { readonly resource: string };
  readonly client: AskingClient;
  /** The scopes that the page offers. */
  readonly scopes: readonly string[];
  /** The user whom the page names; a session of another user is not enough. */
  readonly shownTo?: string;
  /** The approved scopes; absent before the approval. */
  readonly approved?: readonly string[];
}

/** A person opens the gateway's own pages. */
export interface VisitContent extends Common {
  readonly kind: "visit";
  /** A path of this gateway. */
  readonly to: string;
}

export type Content = AuthorizeContent | VisitContent;

export interface Attempt {
  readonly handle: string;
  /** The id of the record; it opens nothing. */
  readonly id: string;
  readonly stage: Stage;
  readonly content: Content;
}

/** The marks by which the login doctor joins the steps of an attempt, as far as they are known. */
export interface Marks {
  readonly attempt?: string;
  readonly client?: string;
}

export function marksOf({ id, content }: Pick<Attempt, "id" | "content">): Marks {
  return { attempt: id, ...(content.kind === "authorize" && { client: content.client.id }) };
}

/** The result of a step. */
export interface Settled {
  readonly ending: StepOutcome;
  /** The next stage of the attempt; absent when it is over. */
  readonly next?: { readonly stage: Stage; readonly content: Content };
}

/** A person who is signed in. */
export interface SignedInPerson {
  readonly user: CurrentUser;
  /** The id of their browser's session. */
  readonly session: string;
  /** When they authenticated, in milliseconds since 1970; 0 when that is unknown. */
  readonly authenticatedAt: number;
  /** The MAC of the owner code that they signed in with, if they did. */
  readonly codeMac?: string;
}

export type ProblemKind =
  | "unreadable"
  | "too-long"
  | "limited"
  | "unknown-client"
  | "client-document"
  | "bad-redirect"
  | "client-changed"
  | "attempt-gone"
  | "foreign-form"
  | "no-form"
  | "nothing-chosen"
  | "not-allowed"
  | "disabled"
  | "bad-return"
  | "provider-failed"
  | "provider-unreachable"
  | "not-fresh"
  | "no-statement"
  | "setup-gone"
  | "failed";

interface Answer {
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
}

/** The person is shown that the sign-in cannot continue. */
export interface Problem extends Answer {
  readonly kind: "problem";
  readonly problem: ProblemKind;
  /** The reference under which the operator finds it. */
  readonly reference?: string;
  /** A more exact sentence of ours on what happened. */
  readonly sentence?: string;
  readonly retryAfterSeconds?: number;
}

interface Redirect extends Answer {
  readonly kind: "redirect";
  /** A path of this gateway, or a checked URL. */
  readonly location: string;
}

/**
 * An answer for an application for which no trusted host vouches: the person is asked to follow the
 * link (RFC 9700 section 4.11.2: an authorization server must not be an open redirector).
 */
export interface ReturnLink extends Answer {
  readonly kind: "return-link";
  readonly href: string;
  /** The OAuth error code in the answer. */
  readonly error: string;
  readonly reference: string;
}

/** The outcome of a step that ends it without a further question. */
export type Ending = Problem | Redirect | ReturnLink;

/** The outcome of a step of an attempt: a question is asked anew, in an attempt of its own. */
export type StepOutcome = Ending | ConsentQuestion;

export function redirect(location: string): Redirect {
  return { kind: "redirect", location };
}

export function withCookies<T extends Answer>(ending: T, cookies: readonly string[]): T {
  return { ...ending, cookies: [...(ending.cookies ?? []), ...cookies] };
}

export function problem(
  kind: ProblemKind,
  more: Pick<Problem, "reference" | "sentence" | "retryAfterSeconds"> = {},
): Problem {
  return { kind: "problem", problem: kind, ...more };
}

/** The differences since the user last approved the application. */
export interface Changes {
  /** The earlier name. */
  readonly earlierName?: string;
  /** The redirect URIs or the client authentication differ. */
  readonly isOtherwise: boolean;
  /** Scopes that were not approved before; empty when there was no approval. */
  readonly newScopes: readonly string[];
}

/** The person has to be asked whether an application may act for them. */
export interface ConsentQuestion extends Answer {
  readonly kind: "consent";
  readonly handle: string;
  readonly content: AuthorizeContent;
  /** The signed-in user. */
  readonly user: User | undefined;
  readonly changes: Changes;
  /** The page before named another user. */
  readonly isOtherPerson?: true;
}

/** The person has to be asked to sign in. */
export interface SignInQuestion extends Answer {
  readonly kind: "sign-in";
  readonly attempt: Attempt;
  /** The error of the last answer. */
  readonly complaint?: Complaint;
}

export type Complaint =
  | { readonly kind: "wrong-code" }
  /** Too many wrong codes were entered. */
  | { readonly kind: "wait"; readonly seconds: number }
  /** No code exists yet. */
  | { readonly kind: "not-set-up" };

/** The outcome of a request on the way to a sign-in. */
export type SignInOutcome = Ending | ConsentQuestion | SignInQuestion;
