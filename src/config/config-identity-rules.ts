/** The people whom a provider of `IDENTITY` admits, as far as it knows the facts about them. */

import {
  type AllowList,
  isEmail,
  isEmptyList,
  NO_ONE_ALLOWED,
  type Rules,
} from "../auth/identity/allow-list.ts";
import type { FieldResolution } from "./config-identity-fields.ts";
import type { IdentityEntry, ProviderName } from "./config-identity-schema.ts";

/** The lists for which a provider has facts. */
const LISTS: Readonly<Record<Exclude<ProviderName, "owner">, readonly (keyof AllowList)[]>> = {
  oidc: ["emails", "domains", "groups", "subjects"],
  google: ["emails", "domains", "subjects"],
  entra: ["emails", "domains", "groups", "subjects"],
  github: ["emails", "domains", "organizations", "subjects"],
  access: ["emails", "domains", "subjects"],
};

export function rules(
  { provider, allow: given = {}, admins = [] }: Exclude<IdentityEntry, { provider: "owner" }>,
  { key, problems }: FieldResolution,
): Rules {
  const allow: Record<keyof AllowList, readonly string[]> = { ...NO_ONE_ALLOWED };
  for (const list of Object.keys(NO_ONE_ALLOWED) as (keyof AllowList)[]) {
    const entries = given[list] ?? [];
    allow[list] = entries;
    if (entries.length > 0 && !LISTS[provider].includes(list)) {
      const known = LISTS[provider].join(", ");
      problems.push(`${key}.allow.${list} means nothing to this provider; it knows: ${known}.`);
    }
  }
  if (isEmptyList(allow)) {
    problems.push(
      `${key}.allow is empty, so nobody could sign in; list who may, like { emails = ["you@example.com"] }.`,
    );
  }
  if (!allow.emails.every((email) => isEmail(email) && !email.includes("*"))) {
    problems.push(`${key}.allow.emails must be whole addresses, like "you@example.com".`);
  }
  if (!allow.domains.every((domain) => /^[^\s@*/:]+\.[^\s@*/:]+$/.test(domain))) {
    problems.push(`${key}.allow.domains must be whole domains without "@", like "example.com".`);
  }
  return { allow, admins };
}
