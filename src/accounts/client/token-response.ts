/**
 * What the answer of a token endpoint means (RFC 6749 section 5). It is read by rules of our own: servers
 * report errors with status 200, hide them behind challenges, and add ID tokens that nobody has asked for.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { parseScope } from "../scopes.ts";
import type { EndpointAnswer, EndpointOutcome } from "./send-request.ts";

interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** From when the request was sent. Without it, a token is used until it is refused. */
  readonly expiresInMs?: number;
  readonly refreshExpiresInMs?: number;
  /** As requested, without it (RFC 6749 section 5.1). */
  readonly granted?: readonly string[];
}

export type TokenOutcome =
  | { readonly kind: "granted"; readonly tokens: TokenSet }
  /** The code or refresh token is used, expired or withdrawn: only a person can get another one. */
  | { readonly kind: "dead" }
  /** The authorization server does not know the client, or its secret. */
  | { readonly kind: "client-gone"; readonly isAuthenticationRefused: boolean }
  | { readonly kind: "scope-refused" }
  | { readonly kind: "resource-refused" }
  /** The operator has to change something. */
  | { readonly kind: "request-refused" }
  /** A token came that is of no kind that can be used, such as one bound to a key. */
  | { readonly kind: "bad-token" }
  | { readonly kind: "not-processed"; readonly retryAfterMs?: number }
  /** Nobody knows whether the request was processed. */
  | { readonly kind: "unknown" };

/** By the error code. Those that no RFC has are GitHub's and Slack's. */
const MEANINGS: Readonly<Record<string, TokenOutcome>> = {
  invalid_grant: { kind: "dead" },
  access_denied: { kind: "dead" },
  interaction_required: { kind: "dead" },
  consent_required: { kind: "dead" },
  login_required: { kind: "dead" },
  bad_refresh_token: { kind: "dead" },
  bad_verification_code: { kind: "dead" },
  invalid_refresh_token: { kind: "dead" },
  invalid_code: { kind: "dead" },
  invalid_client: { kind: "client-gone", isAuthenticationRefused: true },
  incorrect_client_credentials: { kind: "client-gone", isAuthenticationRefused: true },
  unauthorized_client: { kind: "client-gone", isAuthenticationRefused: false },
  invalid_scope: { kind: "scope-refused" },
  invalid_target: { kind: "resource-refused" },
  temporarily_unavailable: { kind: "not-processed" },
  slow_down: { kind: "not-processed" },
  server_error: { kind: "unknown" },
};

/** @param now for a `Retry-After` that is a date. */
export function judgeTokenResponse(answer: EndpointOutcome, now: number): TokenOutcome {
  if (answer === "refused") return { kind: "not-processed" };
  if (answer === "unanswered") return { kind: "unknown" };
  const { status, body } = answer;
  if (status === 429 || status === 503) return notProcessed(answer, now);
  if (body === undefined || status < 200 || status >= 500) return { kind: "unknown" };
  if (status >= 300 && status < 400) return { kind: "unknown" };
  const { error } = body;
  if (typeof error === "string" && error !== "") {
    const meaning = meaningOf(error, body);
    return meaning.kind === "not-processed" ? notProcessed(answer, now) : meaning;
  }
  return status < 300 ? readTokens(body) : { kind: "unknown" };
}

function meaningOf(error: string, { error_description: description }: JsonObject): TokenOutcome {
  // Atlassian's way to say that a refresh token has ended.
  const isAboutToken =
    typeof description === "string" && /refresh_token is invalid/i.test(description);
  if (error === "unauthorized_client" && isAboutToken) return { kind: "dead" };
  const known = Object.hasOwn(MEANINGS, error) ? MEANINGS[error] : undefined;
  return known ?? { kind: "request-refused" };
}

/** Seconds or a date (RFC 9110 section 10.2.3). */
function notProcessed({ retryAfter }: EndpointAnswer, now: number): TokenOutcome {
  const text = retryAfter ?? "";
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return { kind: "not-processed", ...(ms > 0 && { retryAfterMs: ms }) };
}

/** It goes into a header as it is. */
const ACCESS_TOKEN = /^[\x21-\x7e]{1,16384}$/;
const MAX_REFRESH_TOKEN_LENGTH = 16_384;

function readTokens(body: JsonObject): TokenOutcome {
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken, scope } = body;
  if (typeof accessToken !== "string") return { kind: "unknown" };
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  if (!isBearer || !ACCESS_TOKEN.test(accessToken)) return { kind: "bad-token" };
  const hasRefreshToken =
    typeof refreshToken === "string" &&
    refreshToken !== "" &&
    refreshToken.length <= MAX_REFRESH_TOKEN_LENGTH;
  const expiresInMs = durationMs(body["expires_in"]);
  const refreshExpiresInMs = durationMs(
    body["refresh_token_expires_in"] ?? body["refresh_expires_in"],
  );
  const granted = typeof scope === "string" ? parseScope(scope) : undefined;
  return {
    kind: "granted",
    tokens: {
      accessToken,
      ...(hasRefreshToken && { refreshToken }),
      ...(expiresInMs !== undefined && { expiresInMs }),
      ...(refreshExpiresInMs !== undefined && { refreshExpiresInMs }),
      ...(granted !== undefined && { granted }),
    },
  };
}

const MAX_SECONDS = 10 * 365 * 86_400;

/** @returns `undefined` for what is no time: the token has none then. */
function durationMs(value: unknown): number | undefined {
  const isText = typeof value === "string" && /^\d{1,15}(?:\.\d+)?$/.test(value);
  const seconds = isText ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined;
  return Math.min(seconds, MAX_SECONDS) * 1000;
}
