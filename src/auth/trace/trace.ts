/**
 * What the login doctor is told: the steps of an attempt to connect, from the first look for the
 * metadata to the first request with a token. A step has names, addresses and words of our own in
 * it, and never a code, state, token, handle or secret.
 */

import type { TokenReason } from "./token-reasons.ts";

/**
 * Notes a step, and waits for nothing: what goes wrong with it is nobody's trouble but ours.
 *
 * @returns the step's reference. An error page shows it, and with it the operator finds the whole
 *   attempt.
 */
export type Trace = (step: LoginStepView) => string;

/** By which steps of one application are told apart when several people use it at once. */
interface Marks {
  /** The record of the attempt; not the handle that opens it. */
  readonly attempt?: string;
  /** The grant's id. */
  readonly grant?: string;
}

/** Steps of an application that has said which one it is. */
interface OfClient extends Marks {
  readonly client: string;
}

/** Steps that can be of an application that nobody was found by. */
interface OfStranger extends Marks {
  /** Of a client that there is. */
  readonly client?: string;
  /** What may be kept of a client id that is none here (`mask.ts`). */
  readonly claimed?: string;
}

/** Steps that can also be about somebody who comes to the gateway's own pages. */
interface OfPerson extends Marks {
  readonly client?: string;
}

export type AskRefusal =
  | "unknown-client"
  | "document"
  | "redirect-mismatch"
  | "unknown-resource"
  | "unknown-scope"
  | "no-pkce"
  | "unsupported"
  | "malformed"
  | "limited";

/** Why an attempt that had begun could not go on. */
export type AttemptRefusal = "expired" | "used" | "other-browser" | "foreign-origin" | "malformed";

export type LoginStepView =
  /** Somebody asked for a metadata document. */
  | { readonly kind: "probed"; readonly path: string; readonly isFound: boolean }
  /** A request without a token was told where to get one. */
  | { readonly kind: "challenged"; readonly path: string }
  /**
   * A request came with a token that is none of ours, or none any more, or is for another endpoint.
   * Of the grant that it names is kept what the isolate knows to be true, and else nothing.
   */
  | ({ readonly kind: "bearer_refused"; readonly path: string } & OfPerson)
  | ({
      readonly kind: "registered";
      readonly name: string | undefined;
      readonly redirectUris: readonly string[];
    } & OfClient)
  /** @see RFC 7591 section 3.2.2 for the words; `limited` when there were too many. */
  | {
      readonly kind: "registration_refused";
      readonly error: string;
      readonly redirectUris?: readonly string[];
    }
  /** An authorization request that could be served. */
  | ({
      readonly kind: "asked";
      readonly name: string | undefined;
      readonly redirectUri: string;
      readonly resource: string;
      readonly scopes: readonly string[];
    } & OfClient)
  | ({
      readonly kind: "ask_refused";
      readonly reason: AskRefusal;
      readonly redirectUri?: string;
      /** What it may ask for. */
      readonly registered?: readonly string[];
      readonly resource?: string;
      /** A code or a sentence of our own, without anything that is secret. */
      readonly detail?: string;
    } & OfStranger)
  | ({ readonly kind: "consent_shown" } & OfClient)
  | ({
      readonly kind: "answered";
      /** `remembered`: the page was not needed. */
      readonly decision: "approved" | "denied" | "remembered";
    } & OfClient)
  | ({ readonly kind: "attempt_refused"; readonly reason: AttemptRefusal } & OfPerson)
  | ({ readonly kind: "sent_to_provider"; readonly provider: string } & OfPerson)
  | ({ readonly kind: "signed_in"; readonly provider: string; readonly user: string } & OfPerson)
  | ({
      readonly kind: "sign_in_refused";
      readonly provider: string;
      /** The provider port's word and sentence. */
      readonly reason: string;
      readonly detail: string;
    } & OfPerson)
  | ({ readonly kind: "code_issued"; readonly user: string } & OfClient)
  /** For a code; a refresh that goes well is no step of anything. */
  | ({ readonly kind: "token_issued" } & OfClient)
  | ({
      /** It has a grant only if that is one of this client's. */
      readonly kind: "token_refused";
      readonly grantType:
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "revocation"
        | "other";
      /** RFC 6749 section 5.2, or `limited`. */
      readonly error: string;
      /** More exactly, as far as is known (`token-reasons.ts`). */
      readonly reason?: TokenReason;
    } & OfStranger)
  /** A request with a good token: served, or refused for its scope. */
  | ({ readonly kind: "used"; readonly path: string; readonly status: 200 | 403 } & OfClient);

export type StepKind = LoginStepView["kind"];
export type StepOf<K extends StepKind> = Extract<LoginStepView, { readonly kind: K }>;

/** A step as it is kept. */
export interface TracedStep<Step extends LoginStepView = LoginStepView> {
  readonly step: Step;
  readonly reference: string;
  /** Milliseconds since 1970: of the first time, and of the last one. */
  readonly at: number;
  readonly lastAt: number;
  /** How often in a row it came. */
  readonly times: number;
  readonly address: string;
  readonly agent: string;
}

/** What is sent to be kept. */
export interface NotedStep extends Omit<TracedStep, "lastAt" | "times"> {
  /** Whose trace it goes to (`trace-key.ts`). */
  readonly key: string;
}

/** An attempt: its steps by time. */
export interface LoginTrace {
  /** Of its first step. */
  readonly reference: string;
  readonly key: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly steps: readonly TracedStep[];
}
