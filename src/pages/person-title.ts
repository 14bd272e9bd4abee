/** The names of people and of sign-in methods on pages. */

import type { IdentityProvider } from "../auth/identity/provider.ts";
import type { User } from "../auth/store/users.ts";

export function personLabel({ name, email, id }: Pick<User, "name" | "email" | "id">): string {
  return name ?? email ?? id;
}

const BUTTON = /^(?:continue|sign in|log in) with /iu;

/** The name of a sign-in method: the button's text without its verb. */
export function providerTitle(provider: Pick<IdentityProvider, "kind" | "label">): string {
  return provider.kind === "code" ? "the owner code" : provider.label.replace(BUTTON, "");
}
