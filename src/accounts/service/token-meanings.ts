/** What the outcome of a request for a token means: for an attempt to connect, and for an account. */

import type { TokenAnswer } from "../client/token-request.ts";
import type { TokenOutcome } from "../client/token-response.ts";
import type { RegistrationWay } from "../settings.ts";
import type { Trouble } from "../trouble.ts";
import type { FreshTokens, RenewalAnswer } from "./token-renewal.ts";

/** Of the exchange of a code. */
export const EXCHANGE_TROUBLES: Readonly<
  Record<Exclude<TokenOutcome["kind"], "granted">, Trouble>
> = {
  dead: "code-refused",
  "client-gone": "client-gone",
  "scope-refused": "scope-refused",
  "resource-refused": "resource-refused",
  "request-refused": "request-refused",
  "bad-token": "bad-token",
  "not-processed": "failing",
  unknown: "exchange-unanswered",
};

export function tokensOf(
  { client }: TokenAnswer,
  { tokens }: Extract<TokenOutcome, { kind: "granted" }>,
): FreshTokens {
  return { ...tokens, clientMethod: client.method };
}

/** Of a refresh. */
export function meaningOf(answer: TokenAnswer, way: RegistrationWay): RenewalAnswer {
  const { outcome } = answer;
  switch (outcome.kind) {
    case "granted":
      return { kind: "tokens", tokens: tokensOf(answer, outcome) };
    case "dead":
      return { kind: "denied", trouble: "ended" };
    case "client-gone":
      return way === "dcr"
        ? { kind: "denied", trouble: "client-gone" }
        : { kind: "not-accepted", trouble: "client-refused" };
    case "scope-refused":
      return { kind: "denied", trouble: "scope-refused" };
    case "not-processed":
      return { kind: "not-processed", retryAfterMs: outcome.retryAfterMs };
    case "unknown":
    case "bad-token":
      return { kind: "unanswered" };
    default:
      return { kind: "not-accepted", trouble: outcome.kind };
  }
}

/** Of a request for a token of the gateway's own: nobody could connect its account again, so it is sent again later. */
export function ownMeaningOf(answer: TokenAnswer): RenewalAnswer {
  const meaning = meaningOf(answer, "preregistered");
  if (meaning.kind !== "denied") return meaning;
  const isScope = meaning.trouble === "scope-refused";
  return { kind: "not-accepted", trouble: isScope ? "scope-refused" : "client-refused" };
}
