/** Who sends a request, where something in front of the gateway has signed a statement of it. */

import type { AuthContext } from "../context/context.ts";
import type { SignInResult } from "../identity/provider.ts";

export interface Identified {
  /** The name of the provider that says so. */
  readonly provider: string;
  readonly result: SignInResult;
}

/** @returns `undefined` when nobody says anything, which is usual. */
export async function identify(
  { providers }: Pick<AuthContext, "providers">,
  { headers }: Request,
): Promise<Identified | undefined> {
  for (const provider of providers.values()) {
    if (provider.kind !== "header") continue;
    const result = await provider.identify(headers);
    if (result !== undefined) return { provider: provider.name, result };
  }
  return undefined;
}
