/**
 * Handles the redirect back from a provider. Its parameters are read only if they belong to an
 * attempt of this browser that was sent to this provider (mix-up: RFC 9207, RFC 9700 section 4.4),
 * and only once: no provider is asked about anything else.
 */

import type { AuthContext } from "../context/context.ts";
import { welcome } from "./conclude.ts";
import { type Ending, problem } from "./ending.ts";
import { attemptMark, HeldAttempt } from "./held-attempt.ts";
import { callbackOf } from "./redirect-to-provider.ts";

/** @param name the provider's name in the path. */
export async function handleCallback(
  context: AuthContext,
  request: Request,
  name: string,
): Promise<Ending> {
  const { pathname, search, searchParams } = new URL(request.url);
  const [state = null, ...others] = searchParams.getAll("state");
  const held = others.length === 0 ? await HeldAttempt.of(context, request, state) : undefined;
  const mark = await attemptMark(request, others.length === 0 ? state : null);
  if (held === undefined) return stray(context, "other-browser", mark);
  const waiting = await held.find();
  const provider = context.providers.get(name);
  if (waiting?.stage !== "login") return stray(context, "used", mark);
  if (provider?.kind !== "redirect" || waiting.content.departure?.provider !== name) {
    return stray(context, "malformed", mark);
  }
  const ending = await held.step("login", async (attempt) => {
    const { handle, content } = attempt;
    const result = await provider.finish({
      url: new URL(pathname + search, context.origin),
      state: handle,
      callback: callbackOf(context, provider),
      memory: content.departure?.memory ?? {},
    });
    const identified = { provider: name, result };
    const settled = await welcome(context, request, {
      attempt,
      identified,
      endCookie: held.endCookie,
    });
    return { ...settled, isOnce: true };
  });
  return ending ?? stray(context, "used", mark);
}

function stray(
  { trace }: Pick<AuthContext, "trace">,
  reason: "other-browser" | "used" | "malformed",
  mark: { readonly attempt?: string },
): Ending {
  return problem("bad-return", { reference: trace({ kind: "attempt_refused", reason, ...mark }) });
}
