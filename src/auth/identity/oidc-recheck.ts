/**
 * Asks an OpenID provider whether a sign-in is still valid: it renews the refresh token or rejects
 * it; without one, it accepts or rejects the access token. New facts about the person are judged
 * again.
 */

import type { OidcClient, Tokens } from "./oidc-client.ts";
import { errorCode, sentenceOf } from "./oidc-failure.ts";
import type { OidcPeople } from "./oidc-people.ts";
import type { KnownIdentity, Recheck } from "./provider.ts";
import { SignInError } from "./sign-in-error.ts";
import { isPast, parseUpkeep, type Upkeep, upkeepOf } from "./upkeep.ts";

/**
 * Only these errors end a sign-in: any other is caused by the operator or the provider, and the
 * person's sign-in may still be valid.
 */
const ENDS: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
]);

const RAN_OUT =
  "The sign-in at the provider has run out, and there is no refresh token to renew it.";
const WITHDRAWN = "The provider does not stand by this sign-in any more.";

export async function recheckOidc(
  client: OidcClient,
  people: OidcPeople,
  upkeep: string | undefined,
  known: KnownIdentity,
): Promise<Recheck> {
  if (!people.issuers.includes(known.issuer)) return ended("The provider is not configured now.");
  const kept = parseUpkeep(upkeep);
  if (kept === undefined) return ended(RAN_OUT);
  try {
    return kept.refreshToken === undefined
      ? await probe(people, kept, known)
      : await renew(client, people, kept.refreshToken, known);
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    if (error.reason === "not-allowed") return ended(error.message);
    const code = errorCode(error);
    if (code === undefined || !ENDS.has(code)) return { kind: "unavailable" };
    const isTokenRefused = code === "invalid_grant" && kept.refreshToken !== undefined;
    return { ...ended(sentenceOf(code)), ...(isTokenRefused && { isTokenRefused }) };
  }
}

async function probe(people: OidcPeople, kept: Upkeep, known: KnownIdentity): Promise<Recheck> {
  if (isPast(kept.accessExpiresAt)) return ended(RAN_OUT);
  return judge(people, kept, known);
}

async function renew(
  client: OidcClient,
  people: OidcPeople,
  refreshToken: string,
  known: KnownIdentity,
): Promise<Recheck> {
  const tokens = { refreshToken, ...(await client.refresh(known.issuer, refreshToken)) };
  const upkeep = upkeepOf(tokens);
  try {
    const verdict = await judge(people, tokens, known);
    return verdict.kind === "alive" ? { ...verdict, upkeep } : verdict;
  } catch (error) {
    if (!(error instanceof SignInError && error.reason === "provider-unreachable")) throw error;
    // The earlier refresh token may be invalid by now, so the new one must not get lost.
    return { kind: "alive", upkeep };
  }
}

async function judge(people: OidcPeople, tokens: Tokens, known: KnownIdentity): Promise<Recheck> {
  if (tokens.idToken !== undefined && people.subjectOf(tokens.idToken) !== known.subject) {
    return ended("The provider answers for another account.");
  }
  const news = await people.news(tokens, known);
  if (news === "refused") return ended(WITHDRAWN);
  if (news === undefined) return { kind: "alive" };
  return { kind: "alive", identity: people.identify(known.issuer, news, known) };
}

function ended(detail: string): Recheck {
  return { kind: "ended", detail };
}
