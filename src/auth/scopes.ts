/**
 * The scopes of a token. `mcp` covers everything that its user may use, `mcp:<slug>` one upstream,
 * `admin` the operator's pages. A wider scope covers the narrower ones that are part of it
 * (2026-07-28, scope hierarchies MUST be accounted for).
 */

export const USE = "mcp";
export const ADMIN = "admin";

export function useOf(slug: string): string {
  return `${USE}:${slug}`;
}

/** @returns whether the granted scopes cover the needed one. */
export function covers(granted: readonly string[], needed: string): boolean {
  return granted.includes(needed) || (needed.startsWith(`${USE}:`) && granted.includes(USE));
}

/** Scopes that were granted to an administrator end when the user is no longer one. */
export function scopesOf(
  { isAdmin }: { readonly isAdmin: boolean },
  granted: readonly string[],
): string[] {
  return granted.filter((scope) => isAdmin || scope !== ADMIN);
}

export type ScopeDecision =
  | { readonly kind: "granted"; readonly scopes: readonly string[] }
  /** Scopes were requested, and none of them is offered. */
  | { readonly kind: "none" };

/**
 * RFC 6749 section 3.3: the server chooses the scope of a request that names none, and may ignore
 * scopes that it does not know.
 *
 * @param offered the scopes of the resource, the first one by default.
 */
export function choose(requested: readonly string[], offered: readonly string[]): ScopeDecision {
  const [first] = offered;
  if (first === undefined) return { kind: "none" };
  if (requested.length === 0) return { kind: "granted", scopes: [first] };
  const scopes = offered.filter((scope) => requested.includes(scope));
  return scopes.length === 0 ? { kind: "none" } : { kind: "granted", scopes };
}
