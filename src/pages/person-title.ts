/** People and what they sign in with, as pages call them. */

import type { IdentityProvider } from "../auth/identity/provider.ts";
import type { User } from "../auth/store/users.ts";

export function personLabel({ name, email, id }: Pick<User, "name" | "email" | "id">): string {
  return name ?? email ?? id;
}

const BUTTON = /^(?:continue|sign in|log in) with /iu;

/** What people sign in with: what stands on the button, without the button's verb. */
export function providerTitle(provider: Pick<IdentityProvider, "kind" | "label">): string {
  return provider.kind === "code" ? "the owner code" : provider.label.replace(BUTTON, "");
}
