/**
 * The steps that the login doctor records: an attempt to connect, from the first look-up of the
 * metadata to the first request with a token. A step contains names, addresses and our own
 * sentences, and never a code, state, token, handle or secret.
 */

/**
 * Records a step without waiting: a failure to record it does not affect the request.
 *
 * @returns the step's reference. An error page shows it, and the operator finds the whole attempt
 *   by it.
 */
export type Trace = (step: LoginStep) => string;

/** The marks that separate the steps of one application when several people use it at once. */
interface Marks {
  /** The id of the attempt's record; not the handle that opens it. */
  readonly attempt?: string;
  /** The id of the grant. */
  readonly grant?: string;
}

/** Steps of an application that has named itself. */
interface OfClient extends Marks {
  readonly client: string;
}

/** Steps that may be of an unknown application. */
interface OfStranger extends Marks {
  /** The id of a known client. */
  readonly client?: string;
  /** The part of an unknown client id that may be stored (`claimedId`). */
  readonly claimed?: string;
}

/** Steps that may also be about a person who comes to the gateway's own pages. */
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

/** The reasons for which an attempt that had begun could not continue. */
export type AttemptRefusal =
  | "expired"
  | "used"
  | "other-browser"
  /** The session of the person who approved has ended meanwhile. */
  | "ended"
  | "foreign-origin"
  | "malformed";

/**
 * The reasons for which a token request was refused, more exact than the error code: the gateway
 * finds them itself, from the client's record and from the state of the grant. The library's
 * descriptions decide nothing.
 */
export type TokenReason =
  | "unknown-client"
  | "wrong-secret"
  | "other-client"
  | "used-code"
  | "expired"
  | "ended"
  | "replaced"
  | "verifier"
  | "redirect"
  | "provider-ended"
  | "user-gone"
  | "too-old"
  // With these, the request may be sent again. `document`: that of the client may not be asked for now.
  // `host-fails`: the client's host, which has its document or its keys.
  | "limited"
  | "document"
  | "host-fails"
  | "provider-unreachable"
  | "internal-error";

export type LoginStep =
  /** A client requested a metadata document. */
  | { readonly kind: "probed"; readonly path: string; readonly isFound: boolean }
  /** A request without a token got a challenge with the address of the metadata. */
  | { readonly kind: "challenged"; readonly path: string }
  /**
   * A request had an invalid token, or one that has ended or is for another endpoint. The grant
   * that it names is recorded only as far as the isolate knows it to be true.
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
      /** The registered redirect URIs of the client. */
      readonly registered?: readonly string[];
      readonly resource?: string;
      /** A code or a sentence of ours, without any secret. */
      readonly detail?: string;
    } & OfStranger)
  | ({ readonly kind: "consent_shown" } & OfClient)
  | ({
      readonly kind: "answered";
      /** `remembered`: no page was needed. */
      readonly decision: "approved" | "denied" | "remembered";
    } & OfClient)
  | ({ readonly kind: "attempt_refused"; readonly reason: AttemptRefusal } & OfPerson)
  | ({ readonly kind: "sent_to_provider"; readonly provider: string } & OfPerson)
  | ({ readonly kind: "signed_in"; readonly provider: string; readonly user: string } & OfPerson)
  | ({
      readonly kind: "sign_in_refused";
      readonly provider: string;
      /** The code and the sentence of the provider port. */
      readonly reason: string;
      readonly detail: string;
    } & OfPerson)
  | ({ readonly kind: "code_issued"; readonly user: string } & OfClient)
  /** Issued for a code; a successful refresh is not a step. */
  | ({ readonly kind: "token_issued" } & OfClient)
  | ({
      /** The step has a grant only if the grant is this client's. */
      readonly kind: "token_refused";
      readonly grantType:
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "revocation"
        | "other";
      /** An error code of RFC 6749 section 5.2, or `temporarily_unavailable`. */
      readonly error: string;
      /** The exact reason, if it is known. */
      readonly reason?: TokenReason;
    } & OfStranger)
  /** A request with a valid token: served, or refused for its scope. */
  | ({ readonly kind: "used"; readonly path: string; readonly status: 200 | 403 } & OfClient);

export type StepKind = LoginStep["kind"];
export type StepOf<K extends StepKind> = Extract<LoginStep, { readonly kind: K }>;

/** A step as it is stored. */
export interface TracedStep<Step extends LoginStep = LoginStep> {
  readonly step: Step;
  readonly reference: string;
  /** Milliseconds since 1970: of the first and of the last occurrence. */
  readonly at: number;
  readonly lastAt: number;
  /** The number of occurrences in a row. */
  readonly times: number;
  readonly address: string;
  readonly agent: string;
}

/** A step as it is sent to the object that stores it. */
export interface NotedStep extends Omit<TracedStep, "lastAt" | "times"> {
  /** The key of the trace that it belongs to (`trace-key.ts`). */
  readonly key: string;
}

/** An attempt: its steps in order of time. */
export interface LoginTrace {
  /** The reference of its first step. */
  readonly reference: string;
  readonly key: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly steps: readonly TracedStep[];
}
