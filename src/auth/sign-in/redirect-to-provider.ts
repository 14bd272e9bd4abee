/** Leads to the sign-in: directly to a single provider, or to the page with a choice. */

import type { AuthContext } from "../context/context.ts";
import type { IdentityProvider, RedirectProvider } from "../identity/provider.ts";
import { ADMIN } from "../scopes.ts";
import { refuseSignIn } from "./admit.ts";
import {
  type Attempt,
  type Content,
  marksOf,
  type Problem,
  problem,
  redirect,
  type Settled,
  type SignedInPerson,
} from "./attempt.ts";

/**
 * @returns the providers that a person can choose; the others identify the person of every request.
 */
export function choices({
  providers,
}: Pick<AuthContext, "providers">): readonly Exclude<
  IdentityProvider,
  { readonly kind: "header" }
>[] {
  return [...providers.values()].filter((provider) => provider.kind !== "header");
}

/** @returns the only provider, if the browser is redirected to it. */
export function onlyProvider(context: AuthContext): RedirectProvider | undefined {
  const [only, ...others] = choices(context);
  return others.length === 0 && only?.kind === "redirect" ? only : undefined;
}

/**
 * @param person the signed-in person, if there is one, whose sign-in is not enough.
 * @returns the problem where only a proxy identifies people: the gateway can send nobody to it.
 */
export function noWayToSignIn(
  context: Pick<AuthContext, "providers">,
  person: SignedInPerson | undefined,
): Problem | undefined {
  if (choices(context).length > 0) return undefined;
  return problem(person === undefined ? "no-statement" : "not-fresh");
}

/** @returns the path of the page with the providers, or the field for the owner's code. */
function loginPath(handle: string): string {
  return `/login?${new URLSearchParams({ attempt: handle }).toString()}`;
}

/** @param person the signed-in person, if there is one, whose sign-in is not enough. */
export async function goToLogin(
  context: AuthContext,
  request: Request,
  attempt: Pick<Attempt, "handle" | "id" | "content">,
  person: SignedInPerson | undefined,
): Promise<Settled> {
  const ending = noWayToSignIn(context, person);
  if (ending !== undefined) return { ending };
  const only = onlyProvider(context);
  if (only !== undefined) return redirectToProvider(context, request, attempt, only);
  const next = { stage: "login", content: attempt.content } as const;
  return { ending: redirect(loginPath(attempt.handle)), next };
}

/**
 * Redirects the browser to a provider, and stores what is needed when it returns.
 *
 * @returns no next stage where the provider cannot be asked.
 */
export async function redirectToProvider(
  context: AuthContext,
  request: Request,
  { handle, id, content }: Pick<Attempt, "handle" | "id" | "content">,
  provider: RedirectProvider,
): Promise<Settled> {
  const begun = await provider.begin({
    state: handle,
    callback: callbackOf(context, provider),
    fresh: content.needsLogin || isLasting(content),
  });
  const { name } = provider;
  const marks = marksOf({ id, content });
  if (begun.kind === "refused") {
    return { ending: refuseSignIn(context, request, { provider: name, result: begun }, marks) };
  }
  context.trace({ kind: "sent_to_provider", provider: name, ...marks });
  const departure = { provider: name, memory: begun.memory };
  return {
    ending: redirect(begun.location),
    next: { stage: "login", content: { ...content, departure } },
  };
}

export function callbackOf({ origin }: AuthContext, { name }: RedirectProvider): string {
  return `${origin}/callback/${name}`;
}

/** @returns whether the approval includes the operator's pages, which demand a new sign-in. */
function isLasting(content: Content): boolean {
  return content.kind === "authorize" && content.approved?.includes(ADMIN) === true;
}
