/**
 * Identifies the sender of a request where a proxy in front of the gateway has signed the identity.
 */

import type { AuthContext } from "../context/context.ts";
import type { SignInResult } from "../identity/provider.ts";

export interface Identified {
  /** The name of that provider. */
  readonly provider: string;
  readonly result: SignInResult;
}

/** @returns `undefined` when no provider identifies the request, which is usual. */
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
