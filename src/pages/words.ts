/** The words of pages for people, sign-in methods and the gateway's own codes. Programs get the codes. */

import type { IdentityProvider } from "../auth/identity/provider.ts";
import type { RefusalReason } from "../auth/identity/sign-in-error.ts";
import type { User } from "../auth/store/users.ts";
import type { AskRefusal, AttemptRefusal, StepOf, TokenReason } from "../auth/trace/trace.ts";

export function personLabel({ name, email, id }: Pick<User, "name" | "email" | "id">): string {
  return name ?? email ?? id;
}

const BUTTON = /^(?:continue|sign in|log in) with /iu;

/** The name of a sign-in method: the button's text without its verb. */
export function providerTitle(provider: Pick<IdentityProvider, "kind" | "label">): string {
  return provider.kind === "code" ? "the owner code" : provider.label.replace(BUTTON, "");
}

type Reason = AskRefusal | AttemptRefusal | RefusalReason | TokenReason | "disabled" | "limited";

const REASONS: Readonly<Record<Reason, string>> = {
  limited: "there were too many requests",

  "unknown-client": "the client id is not known here",
  document: "the metadata document could not be used",
  "redirect-mismatch": "the redirect address is not registered",
  "unknown-resource": "there is no such resource here",
  "unknown-scope": "none of the scopes can be had here",
  "no-pkce": "PKCE with S256 is missing",
  unsupported: "this is not supported here",
  malformed: "what was sent cannot be read",

  expired: "it was left for too long",
  used: "it was used already",
  "other-browser": "the browser is not the one that began, or keeps no cookies",
  "foreign-origin": "the form did not come from a page of this gateway",

  "not-allowed": "the person is not among those who may sign in",
  disabled: "the person is disabled",
  "bad-state": "the answer does not belong to this browser's attempt",
  "bad-token": "the sign-in provider's token is not valid",
  "provider-error": "the sign-in provider reported an error",
  "provider-unreachable": "the sign-in provider cannot be reached",
  "wrong-code": "the code is wrong",
  "not-set-up": "there is no owner code yet",
  "not-fresh": "the sign-in was too long ago",

  "wrong-secret": "the client did not prove who it is",
  "other-client": "it belongs to another client",
  "used-code": "the code was used already",
  ended: "the access was ended",
  replaced: "the token was replaced before",
  verifier: "the code verifier does not fit",
  redirect: "the redirect address is another one than before",
  "provider-ended": "the sign-in provider ended the session",
  "user-gone": "the person may not sign in any more",
  "too-old": "the person signed in too long ago",
  "host-fails": "the client's own host fails",
  "internal-error": "the gateway itself failed",
};

const GRANT_TYPES: Readonly<Record<StepOf<"token_refused">["grantType"], string>> = {
  authorization_code: "for a code",
  refresh_token: "for a refresh token",
  client_credentials: "as a service client",
  revocation: "to give a token back",
  other: "with an unknown grant type",
};

const DECISIONS: Readonly<Record<StepOf<"answered">["decision"], string>> = {
  approved: "approved",
  denied: "denied",
  remembered: "approved before, and not asked again",
};

const OWN = new Map(Object.entries({ ...REASONS, ...GRANT_TYPES, ...DECISIONS }));

/** @returns the meaning of a code; a code that is not ours stays as it is. */
export function wordsFor(code: string): string {
  return OWN.get(code) ?? code;
}
