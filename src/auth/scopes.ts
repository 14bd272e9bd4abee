/**
 * What a token may be used for. `mcp` is everything that its user may use, `mcp:<slug>` one
 * upstream, `admin` the operator's pages. A wider scope stands for the narrower ones that are part
 * of it (2026-07-28, scope hierarchies MUST be accounted for).
 */

export const USE = "mcp";
export const ADMIN = "admin";

export function useOf(slug: string): string {
  return `${USE}:${slug}`;
}

/** @returns whether what was granted covers what is needed. */
export function covers(granted: readonly string[], needed: string): boolean {
  return granted.includes(needed) || (needed.startsWith(`${USE}:`) && granted.includes(USE));
}

export type ScopeDecision =
  | { readonly kind: "granted"; readonly scopes: readonly string[] }
  /** Something was asked for, and nothing of it is there to be had. */
  | { readonly kind: "none" };

/**
 * RFC 6749 section 3.3: the scope of a request that asks for none is the server's to choose, and
 * what it does not know it may leave out.
 *
 * @param offered what can be had for the resource, the first one by default.
 */
export function choose(requested: readonly string[], offered: readonly string[]): ScopeDecision {
  const [first] = offered;
  if (first === undefined) return { kind: "none" };
  if (requested.length === 0) return { kind: "granted", scopes: [first] };
  const scopes = offered.filter((scope) => requested.includes(scope));
  return scopes.length === 0 ? { kind: "none" } : { kind: "granted", scopes };
}
