/** The name of a vault's owner: of its object, and in the keys of what belongs to one of its accounts. */

import type { VaultOwner } from "./vault.ts";

const SHARED = "shared";
const PERSON = "person ";

export function ownerName(owner: VaultOwner): string {
  return owner.kind === "person" ? PERSON + owner.person : SHARED;
}

/** @returns `undefined` for a text that `ownerName` has not written. */
export function readOwner(name: string): VaultOwner | undefined {
  if (name === SHARED) return { kind: "shared" };
  const person = name.startsWith(PERSON) ? name.slice(PERSON.length) : "";
  return person === "" ? undefined : { kind: "person", person };
}
