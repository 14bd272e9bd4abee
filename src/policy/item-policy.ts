/**
 * Decides which of a server's tools, prompts or resources may be listed and used. Lists and calls use the
 * same function, so a forbidden item looks like an absent one.
 */

import type { Glob } from "./glob.ts";

export interface ItemPolicy {
  /** `undefined` allows every item; an empty list allows none. */
  readonly allow: readonly Glob[] | undefined;
  /** Wins over `allow`. */
  readonly deny: readonly Glob[];
  /** The names that operators have denied while the gateway runs. It wins over all that is configured. */
  readonly denied?: ReadonlySet<string>;
  /** The server's name of an item → its name here. Resources keep their URIs. */
  readonly rename: ReadonlyMap<string, string>;
}

export const OPEN_POLICY: ItemPolicy = { allow: undefined, deny: [], rename: new Map() };

/** @param name the server's own name, URI or URI template, before any renaming. */
export function isAllowed(policy: ItemPolicy, name: string): boolean {
  return policy.denied?.has(name) !== true && hidingRule(policy, name) === undefined;
}

/** The rule of a configuration that hides an item: the pattern of `deny`, or `allow`, none of whose patterns fits. */
export type HidingRule = Glob | "allow";

/** @returns `undefined` for an item that the configuration allows. */
export function hidingRule({ allow, deny }: ItemPolicy, name: string): HidingRule | undefined {
  const denial = deny.find((glob) => glob.matches(name));
  if (denial !== undefined) return denial;
  return allow === undefined || allow.some((glob) => glob.matches(name)) ? undefined : "allow";
}

/** @returns `true` when no item is forbidden. */
export function isOpen({ allow, deny, denied }: ItemPolicy): boolean {
  if (deny.length > 0 || denied !== undefined) return false;
  return allow === undefined || allow.some((glob) => glob.isEverything);
}

/**
 * Decides on an item that its server does not list. Where any item is forbidden, it must be allowed by
 * its literal name: otherwise the server's answer, or its absence, would distinguish a forbidden item
 * from an absent one.
 */
export function isAllowedUnlisted(policy: ItemPolicy, name: string): boolean {
  if (isOpen(policy)) return true;
  const isNamed = policy.allow?.some((glob) => glob.isLiteral && glob.matches(name)) === true;
  return isNamed && isAllowed(policy, name);
}
