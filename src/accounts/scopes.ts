/** Scopes as sets of tokens (RFC 6749 section 3.3), and which of them the gateway asks for. */

import type { Account } from "./account.ts";
import type { ResolvedSettings } from "./vendor-defaults.ts";

/** `scope-token`; anything else would change the meaning of the list or of the request. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;
const MAX_SCOPES = 100;

/** @returns each scope once, in its order. What is no scope is left out. */
export function scopesIn(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes.filter((scope) => SCOPE.test(scope)))].slice(0, MAX_SCOPES);
}

/** @returns `undefined` for a list that is absent or empty. */
export function parseScope(scope: string | undefined): readonly string[] | undefined {
  const scopes = scopesIn((scope ?? "").split(/\s+/));
  return scopes.length === 0 ? undefined : scopes;
}

export interface ScopeFacts {
  readonly settings: Pick<ResolvedSettings, "scopes" | "maxScopes" | "takesOfflineAccess">;
  /** `scope` of the server's challenge. */
  readonly challenged?: string;
  /** `scopes_supported` of the server's metadata. */
  readonly offered?: readonly string[];
  /** What the account was asked for before: a new request asks for no less. */
  readonly requested?: readonly string[];
  /** `scopes_supported` of the authorization server. */
  readonly supported?: readonly string[];
}

/**
 * Chooses the scopes of an authorization request (2026-07-28, Scope Selection Strategy): the operator's,
 * or those of the challenge, or all that the server offers. A request for more asks for what was
 * *requested* before, too, and not for what is merely offered (SEP-2350). `offline_access` is added where
 * the authorization server lists it (SEP-2207).
 *
 * @returns `undefined` when no `scope` is to be sent.
 */
export function scopesToRequest(facts: ScopeFacts): readonly string[] | undefined {
  const { settings, requested = [], offered, supported } = facts;
  const challenged = parseScope(facts.challenged);
  const isFirst = requested.length === 0;
  const first = settings.scopes ?? (isFirst ? (challenged ?? offered) : undefined) ?? [];
  const base = isFirst ? first : [...first, ...requested, ...(challenged ?? [])];
  const allowed = withinMaxScopes(scopesIn(base), settings.maxScopes);
  if (allowed.length === 0) return undefined;
  const isOffline = settings.takesOfflineAccess && supported?.includes("offline_access") === true;
  const offlineToo = isOffline ? [...allowed, "offline_access"] : allowed;
  return scopesIn(offlineToo).filter(
    (scope) => scope !== "offline_access" || settings.takesOfflineAccess,
  );
}

/**
 * `offline_access` asks for a refresh token (OpenID Connect Core section 11): whoever was given one has it,
 * though authorization servers leave the word out of `scope`.
 *
 * @returns what was asked for, and is not given.
 */
export function missingScopes({
  requested,
  granted,
  isRenewable,
}: Pick<Account, "requested" | "granted" | "isRenewable">): readonly string[] {
  const isGiven = (scope: string): boolean => scope === "offline_access" && isRenewable;
  return requested.filter((scope) => !granted.includes(scope) && !isGiven(scope));
}

export type StepUp =
  /** Ask for these. */
  | { readonly kind: "ask"; readonly scopes: readonly string[] }
  /** All of it was asked for before: a further login would not help. */
  | { readonly kind: "nothing-new" }
  /** The operator does not let the gateway ask for it. */
  | { readonly kind: "beyond-max" };

/** What to do about 403 with `insufficient_scope` (2026-07-28, Step-Up Authorization Flow). */
export function stepUp(
  requested: readonly string[],
  challenge: string | undefined,
  maxScopes: readonly string[] | undefined,
): StepUp {
  const wanted = (parseScope(challenge) ?? []).filter((scope) => !requested.includes(scope));
  if (wanted.length === 0) return { kind: "nothing-new" };
  if (withinMaxScopes(wanted, maxScopes).length < wanted.length) return { kind: "beyond-max" };
  return { kind: "ask", scopes: scopesIn([...requested, ...wanted]) };
}

function withinMaxScopes(
  scopes: readonly string[],
  maxScopes: readonly string[] | undefined,
): readonly string[] {
  return maxScopes === undefined ? scopes : scopes.filter((scope) => maxScopes.includes(scope));
}
