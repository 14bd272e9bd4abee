/**
 * The sentences for what can be wrong with an account at a server (`src/accounts/trouble.ts`): what
 * happened, who can help, and which setting of the server the operator looks at. Nothing is quoted.
 */

import type { Trouble } from "../accounts/trouble.ts";

export interface TroubleWords {
  readonly status: number;
  readonly title: string;
  readonly whatHappened: string;
  /** Whose turn it is: the person waits, connects again, chooses otherwise, or tells the operator. */
  readonly help: "wait" | "connect" | "choose" | "operator";
  /** For the operator, who reads the same page. */
  readonly forOperator?: string;
}

const AGAIN = "You have to sign in there again.";
const REGISTERED_URI =
  "Register the redirect URI below there, and enter the client id, and the secret if there is one, as `clientId`, `clientSecret` and `issuer`.";

export const TROUBLES: Readonly<Record<Trouble, TroubleWords>> = {
  "server-unreachable": {
    status: 503,
    title: "The server cannot be reached",
    whatHappened: "It does not answer at the moment, or answers with a failure of its own.",
    help: "wait",
  },
  "no-metadata": {
    status: 502,
    title: "The server does not say how to sign in",
    whatHappened: "It demands an account, and publishes nothing about where its accounts are.",
    help: "operator",
    forOperator:
      "The server has no protected resource metadata (RFC 9728). Set `authorizationEndpoint`, `tokenEndpoint` and `issuer`, or `legacy` for a server of 2025-03-26.",
  },
  "bad-metadata": {
    status: 502,
    title: "What the server says of signing in cannot be used",
    whatHappened: "It names no place where people sign in, or names it in a way that is not valid.",
    help: "operator",
    forOperator: "Its protected resource metadata is not valid (RFC 9728).",
  },
  "other-resource": {
    status: 502,
    title: "The server speaks of another server",
    whatHappened:
      "What it says of signing in is about another address than the one that is configured here, so nothing is sent.",
    help: "operator",
    forOperator: "Compare `url` with `resource` in the server’s protected resource metadata.",
  },
  "issuer-unreachable": {
    status: 503,
    title: "The sign-in service cannot be reached",
    whatHappened: "The service where people sign in for this server does not answer at the moment.",
    help: "wait",
  },
  "bad-issuer-metadata": {
    status: 502,
    title: "The sign-in service cannot be used",
    whatHappened: "What it publishes about itself is missing or not valid.",
    help: "operator",
    forOperator:
      "Its authorization server metadata is not valid (RFC 8414). `authorizationEndpoint` and `tokenEndpoint` replace it.",
  },
  "other-issuer": {
    status: 502,
    title: "The sign-in service calls itself by another name",
    whatHappened: "It is not the one that the server names, so nothing is sent there.",
    help: "operator",
    forOperator:
      "`issuer` in its metadata differs from what the server lists. If you trust it, set `issuer` to the one in its metadata.",
  },
  "not-pinned": {
    status: 502,
    title: "The server names another sign-in service",
    whatHappened: "It is not the one that whoever runs this gateway has allowed.",
    help: "operator",
    forOperator: "The server no longer lists the configured `issuer`.",
  },
  "unsafe-endpoint": {
    status: 502,
    title: "The sign-in service cannot be trusted",
    whatHappened: "It has an address to which no browser and no secret may be sent.",
    help: "operator",
    forOperator:
      "An endpoint in its metadata is not an https address, or is a place that this gateway may not call.",
  },
  unsupported: {
    status: 502,
    title: "The sign-in service demands what is not supported here",
    whatHappened: "It does not offer the way in which this gateway connects accounts.",
    help: "operator",
    forOperator:
      "Its metadata lists no authorization code grant, or demands pushed authorization requests.",
  },
  "no-pkce": {
    status: 502,
    title: "The sign-in service does not protect the sign-in",
    whatHappened:
      "It does not say that it supports PKCE with S256, without which a code can be stolen.",
    help: "operator",
    forOperator: "If you know that it does support S256, set `pkce` to `assume`.",
  },
  "not-registered": {
    status: 502,
    title: "The sign-in service does not know this gateway",
    whatHappened: "It does not register applications by itself, so somebody has to do it once.",
    help: "operator",
    forOperator: REGISTERED_URI,
  },
  "registration-refused": {
    status: 502,
    title: "The sign-in service has not registered this gateway",
    whatHappened: "It does not register every application, and has refused this one.",
    help: "operator",
    forOperator: REGISTERED_URI,
  },
  "registration-failed": {
    status: 503,
    title: "The sign-in service has not registered this gateway",
    whatHappened:
      "Its answer cannot be used, or there was none. It is asked again after ten minutes.",
    help: "wait",
    forOperator: REGISTERED_URI,
  },
  "client-gone": {
    status: 502,
    title: "The sign-in service has forgotten this gateway",
    whatHappened: "The registration of this gateway there does not work any more.",
    help: "connect",
  },
  "client-refused": {
    status: 502,
    title: "The sign-in service does not accept this gateway",
    whatHappened: "It refuses the client id or the secret that are configured for it.",
    help: "operator",
    forOperator: "Check `clientId`, `clientSecret` and `clientAuth`, and the redirect URI below.",
  },
  "unknown-link": {
    status: 403,
    title: "This link is not for you",
    whatHappened:
      "It was made for another account of this gateway, or it is older than ten minutes. Nothing was changed.",
    help: "choose",
  },
  "too-many": {
    status: 429,
    title: "Too many at once",
    whatHappened: "You have begun to connect accounts many times in a short time.",
    help: "wait",
  },
  declined: {
    status: 403,
    title: "You declined",
    whatHappened: "The sign-in service says that access was not allowed. Nothing was changed.",
    help: "choose",
  },
  "iss-mismatch": {
    status: 400,
    title: "The answer came from elsewhere",
    whatHappened:
      "It does not name the sign-in service to which you were sent, so it was not used. Nothing was changed.",
    help: "connect",
    forOperator:
      "`iss` in the response is not the issuer of the metadata (RFC 9207). If it happens each time, the authorization server has a fault.",
  },
  "authorization-failed": {
    status: 502,
    title: "The sign-in service ended the attempt",
    whatHappened: "It reported an error in place of an access. Nothing was changed.",
    help: "connect",
  },
  "code-refused": {
    status: 502,
    title: "The sign-in was not completed",
    whatHappened: "The sign-in service did not accept its own code. Nothing was changed.",
    help: "connect",
  },
  "exchange-unanswered": {
    status: 503,
    title: "The sign-in was not completed",
    whatHappened:
      "The sign-in service did not answer in the last step. That step cannot be repeated, but the whole can.",
    help: "connect",
  },
  "bad-token": {
    status: 502,
    title: "The sign-in was not completed",
    whatHappened: "The sign-in service has sent nothing with which the server can be used.",
    help: "operator",
    forOperator: "Its token response has no Bearer token (RFC 6750). DPoP is not supported.",
  },
  "scope-refused": {
    status: 502,
    title: "The sign-in service does not know what was asked for",
    whatHappened: "It refuses one of the permissions that the server demands.",
    help: "operator",
    forOperator: "Set `scopes` to those that the authorization server knows.",
  },
  "resource-refused": {
    status: 502,
    title: "The sign-in service does not know the server",
    whatHappened: "It refuses the name of the server for which the access is meant.",
    help: "operator",
    forOperator: "Set `resource` to the name that it expects, or to `false` to send none.",
  },
  "request-refused": {
    status: 502,
    title: "The sign-in service does not accept the request",
    whatHappened: "It refuses what this gateway has sent.",
    help: "operator",
    forOperator:
      "It answered `invalid_request` or `unsupported_grant_type`. Look at `clientAuth`, `resource` and `scopeOnRefresh`.",
  },
  "malformed-key": {
    status: 400,
    title: "That is not a key",
    whatHappened: "A key is one line of at most 8 KiB, without control characters.",
    help: "choose",
  },
  "key-refused": {
    status: 400,
    title: "The server refuses the key",
    whatHappened: "It was tried with one request, and was not kept.",
    help: "choose",
  },
  "key-untried": {
    status: 503,
    title: "The server cannot be reached",
    whatHappened: "So the key could not be tried, and was not kept.",
    help: "wait",
  },
  "not-connected": {
    status: 404,
    title: "Nothing is connected",
    whatHappened: "No account is connected.",
    help: "connect",
  },
  refused: {
    status: 502,
    title: "The server refuses the account",
    whatHappened: `The server does not accept what it was sent for this account any more. ${AGAIN}`,
    help: "connect",
  },
  ended: {
    status: 502,
    title: "The access has ended",
    whatHappened: `The sign-in service has ended the access. ${AGAIN}`,
    help: "connect",
  },
  "refresh-lost": {
    status: 502,
    title: "The access was lost",
    whatHappened: `An answer of the sign-in service was lost when the access was renewed. ${AGAIN}`,
    help: "connect",
  },
  failing: {
    status: 503,
    title: "The sign-in service is failing",
    whatHappened: "The access could not be renewed. It is tried again by itself.",
    help: "wait",
  },
  moved: {
    status: 502,
    title: "The server has moved",
    whatHappened: "It uses another sign-in service now. You have to sign in there.",
    help: "connect",
  },
  sealed: {
    status: 502,
    title: "The account cannot be opened",
    whatHappened: `The key with which it was sealed has been removed from this gateway. ${AGAIN}`,
    help: "connect",
  },
  "more-scopes": {
    status: 403,
    title: "The server demands more",
    whatHappened: "What was called needs a permission that the account has not given yet.",
    help: "connect",
  },
  forbidden: {
    status: 403,
    title: "The account may not do this",
    whatHappened:
      "The server refuses it to this account, and to sign in again would not change that.",
    help: "choose",
  },
  "beyond-max-scopes": {
    status: 403,
    title: "The server demands too much",
    whatHappened:
      "It asks for a permission that whoever runs this gateway does not let it ask for.",
    help: "operator",
    forOperator: "Add the scope to `maxScopes` if it may be asked for.",
  },
};

const UNKNOWN: TroubleWords = {
  status: 502,
  title: "The account cannot be used",
  whatHappened: "Something is wrong that has no name here.",
  help: "operator",
};

/** @param code of this version, or of another one that answers while a deploy takes. */
export function troubleWords(code: string): TroubleWords {
  return Object.hasOwn(TROUBLES, code) ? TROUBLES[code as Trouble] : UNKNOWN;
}
