/**
 * What of a server's tools, prompts or resources may be seen and used. Listing and calling are
 * judged by the same function, so what is forbidden looks as if it were not there.
 */

import type { Glob } from "./glob.ts";

export interface ItemPolicy {
  /** Everything, when there is no such list; nothing, when it is empty. */
  readonly allow: readonly Glob[] | undefined;
  /** Wins over `allow`. */
  readonly deny: readonly Glob[];
  /** The server's name of a thing → what it is called here. Resources keep their URIs. */
  readonly rename: ReadonlyMap<string, string>;
}

export const OPEN_POLICY: ItemPolicy = { allow: undefined, deny: [], rename: new Map() };

/** @param name the server's own, whatever it is called here: a name, a URI or a URI template. */
export function isAllowed({ allow, deny }: ItemPolicy, name: string): boolean {
  if (deny.some((glob) => glob.matches(name))) return false;
  return allow === undefined || allow.some((glob) => glob.matches(name));
}

/** Nothing is forbidden. */
export function isOpen({ allow, deny }: ItemPolicy): boolean {
  return deny.length === 0 && (allow === undefined || allow.some((glob) => glob.isEverything));
}

/**
 * Whether a thing may be used that its server does not list. Where anything is forbidden, it has to
 * be allowed by its very name: else the answer of the server, or its absence, would tell what is
 * forbidden from what is not there.
 */
export function isAllowedUnlisted(policy: ItemPolicy, name: string): boolean {
  if (isOpen(policy)) return true;
  const isNamed = policy.allow?.some((glob) => glob.isLiteral && glob.matches(name)) === true;
  return isNamed && isAllowed(policy, name);
}
