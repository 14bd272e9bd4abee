/** To the sign-in: straight to the provider where there is one, or to the page that lets choose. */

import type { AuthContext } from "../context/context.ts";
import type { IdentityProvider, RedirectProvider } from "../identity/provider.ts";
import { ADMIN } from "../scopes.ts";
import { refuseSignIn } from "./admit.ts";
import { type Attempt, type Content, marksOf, type Settled } from "./attempt.ts";
import { problem, redirect } from "./ending.ts";

/** Those that a person can go to; the others say of every request who sends it. */
export function choices({
  providers,
}: Pick<AuthContext, "providers">): readonly Exclude<
  IdentityProvider,
  { readonly kind: "header" }
>[] {
  return [...providers.values()].filter((provider) => provider.kind !== "header");
}

/** @returns the only one there is, if it is one that a browser is sent to. */
export function onlyProvider(context: AuthContext): RedirectProvider | undefined {
  const [only, ...others] = choices(context);
  return others.length === 0 && only?.kind === "redirect" ? only : undefined;
}

/** The page that lets somebody choose, or takes the owner's code. */
function loginPath(handle: string): string {
  return `/login?${new URLSearchParams({ attempt: handle }).toString()}`;
}

export async function goToLogin(
  context: AuthContext,
  request: Request,
  attempt: Pick<Attempt, "handle" | "id" | "content">,
): Promise<Settled> {
  if (choices(context).length === 0) return { ending: problem("no-statement") };
  const only = onlyProvider(context);
  if (only !== undefined) return redirectToProvider(context, request, attempt, only);
  const next = { stage: "login", content: attempt.content } as const;
  return { ending: redirect(loginPath(attempt.handle)), next };
}

/** Sends the browser to a provider, and keeps what is needed when it comes back. */
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
    const ending = refuseSignIn(context, request, { provider: name, result: begun }, marks);
    return { ending, next: { stage: "login", content } };
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

/** What reaches beyond the pages asks for a sign-in of this moment. */
function isLasting(content: Content): boolean {
  return content.kind === "authorize" && content.approved?.includes(ADMIN) === true;
}
