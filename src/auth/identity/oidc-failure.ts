/**
 * Turns failures at an OpenID provider into refusals. Every error of the library becomes a sentence
 * of ours: its messages and causes contain tokens and the provider's text.
 */

import {
  AuthorizationResponseError,
  JWT_CLAIM_COMPARISON,
  JWT_TIMESTAMP_CHECK,
  KEY_SELECTION,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";

import { isObject } from "../../protocol/json-rpc.ts";
import { SignInError } from "./sign-in-error.ts";

/** The error codes of RFC 6749, OpenID Connect and Google that help a reader. */
const CODES: Readonly<Record<string, string>> = {
  access_denied: "The provider says that access was denied, by the person or by a rule.",
  login_required: "The provider wants the person to sign in there first.",
  consent_required: "The provider wants the person's consent.",
  interaction_required: "The provider wants the person to do something there first.",
  account_selection_required: "The provider wants the person to choose an account.",
  invalid_request: "The provider calls the request invalid.",
  invalid_scope: 'The provider does not grant a scope; check "scopes" in IDENTITY.',
  invalid_client: 'The provider refused the client; check "clientId" and "clientSecret".',
  unauthorized_client: "The provider does not let this client sign people in.",
  unsupported_grant_type: "The provider does not let this client do this.",
  invalid_grant: "The provider does not take the code or token: used, expired or withdrawn.",
  server_error: "The provider reports an error of its own.",
  temporarily_unavailable: "The provider is not available right now.",
};

const CLAIMS: Readonly<Record<string, string>> = {
  iss: "The ID token is of another issuer.",
  aud: "The ID token is for another client.",
  azp: "The ID token was issued to another client.",
  nonce: "The ID token belongs to another sign-in (nonce).",
  exp: "The ID token has expired.",
  nbf: "The ID token is not valid yet; check the clocks.",
};

/** Runs a function and turns the library's errors into ours. */
export async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explain(error);
  }
}

/**
 * @returns the same error when it does not come from the library: then it is a bug, or ours
 *   already.
 */
export function explain(error: unknown): unknown {
  if (error instanceof AuthorizationResponseError) {
    const detail = sentenceOf(error.error);
    return new SignInError("provider-error", detail, { cause: error });
  }
  if (error instanceof ResponseBodyError) {
    const detail = sentenceOf(error.error);
    return new SignInError("provider-error", detail, { cause: error });
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return new SignInError("provider-error", sentenceOf("invalid_client"), { cause: error });
  }
  if (error instanceof OperationProcessingError) {
    return new SignInError("bad-token", failedCheck(error), { cause: error });
  }
  // Invalid base64url, or invalid keys.
  if (
    error instanceof UnsupportedOperationError ||
    error instanceof DOMException ||
    (error instanceof TypeError && "code" in error)
  ) {
    return new SignInError("bad-token", UNREADABLE, { cause: error });
  }
  return error;
}

/** @returns the provider's error code, if it is a known one. */
export function errorCode(error: unknown): string | undefined {
  const cause = error instanceof SignInError ? error.cause : error;
  return cause instanceof ResponseBodyError ? cause.error : undefined;
}

export function sentenceOf(code: string): string {
  return (Object.hasOwn(CODES, code) ? CODES[code] : undefined) ?? "The provider reports an error.";
}

const UNREADABLE = "The provider's answer, or its ID token, is not of a kind that is accepted.";

function failedCheck({ code, cause }: OperationProcessingError): string {
  const claim = isObject(cause) ? cause["claim"] : undefined;
  if (code === KEY_SELECTION) return "The ID token is not signed with a key of the provider.";
  if (code === JWT_CLAIM_COMPARISON || code === JWT_TIMESTAMP_CHECK) {
    return (typeof claim === "string" ? CLAIMS[claim] : undefined) ?? UNREADABLE;
  }
  return "The provider's answer is not valid: a signature, an algorithm or a field is wrong.";
}
