/**
 * Judges whether an authorization request can be served. The library checks it first, because it
 * decides whether the redirect URI is the client's: nothing is sent there before that is known.
 */

import { AuthorizationError, type AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { AuthContext } from "../context/context.ts";
import { resourceForScopes } from "../resources.ts";
import { choose } from "../scopes.ts";
import type { AuthorizeReading, Objection } from "../oauth/endpoints/authorize-request.ts";
import type { User } from "../store/users.ts";
import { answerError } from "./answer-error.ts";
import type { FoundClient } from "./asking-client.ts";
import type { AuthorizeContent } from "./attempt.ts";
import { type Ending, problem } from "./ending.ts";
import { choices } from "./redirect-to-provider.ts";

type Read = Extract<AuthorizeReading, { readonly kind: "read" }>;

interface Asker {
  readonly found: FoundClient;
  /** The signed-in user. */
  readonly user: User | undefined;
}

/** @returns the question to the person, or the error for the application or the person. */
export async function judgeAsk(
  context: AuthContext,
  reading: Read,
  { found: { client, redirectUris: registered }, user }: Asker,
): Promise<AuthorizeContent | Ending> {
  const { clientId, redirectUri, state } = reading;
  const step = { kind: "ask_refused", client: clientId, redirectUri } as const;
  const parsed = await parse(context, reading);
  if (parsed === "homeless") {
    const reference = context.trace({ ...step, reason: "redirect-mismatch", registered });
    return problem("bad-redirect", { reference });
  }
  const refuse = (
    { code, description, reason }: Objection,
    // The library's message may repeat what was sent.
    detail: { readonly detail?: string } = { detail: description },
  ): Promise<Ending> => {
    const resource = new URL(reading.request.url).searchParams.get("resource");
    const reference = context.trace({
      ...step,
      reason,
      ...detail,
      ...(resource !== null && { resource }),
    });
    return answerError(context, { clientId, redirectUri, state }, user, {
      code,
      description,
      reference,
    });
  };
  if ("reason" in parsed) return refuse(parsed, {});
  if (reading.objection !== undefined) return refuse(reading.objection);
  const { resources } = context.authority;
  // `offline_access` is not a scope of a resource: every application may refresh.
  const requested = parsed.scope.filter((scope) => scope !== "offline_access");
  const isNamed = new URL(reading.request.url).searchParams.has("resource");
  const resource = isNamed
    ? resources.find(({ id }) => id === parsed.resource)
    : resourceForScopes(resources, requested);
  const chosen = choose(requested, resource?.scopes ?? []);
  if (resource === undefined || chosen.kind === "none") {
    const description = "None of these scopes is to be had for this resource";
    return refuse({ code: "invalid_scope", description, reason: "unknown-scope" });
  }
  const { scopes } = chosen;
  context.trace({
    kind: "asked",
    client: clientId,
    name: client.name,
    redirectUri,
    resource: resource.id,
    scopes,
  });
  return {
    kind: "authorize",
    startedAt: Date.now(),
    // Where a proxy identifies the person, a new sign-in is impossible.
    needsLogin: reading.asksForLogin && choices(context).length > 0,
    ...{ client, scopes, request: { ...parsed, resource: resource.id } },
  };
}

/** @returns "homeless" for a request without a valid redirect URI. */
async function parse(
  { authority, engine }: AuthContext,
  { request, objection }: Read,
): Promise<AuthRequest | Objection | "homeless"> {
  try {
    return await authority.helpers(engine).parseAuthRequest(request);
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error;
    const { code, description, redirectUri } = error;
    if (redirectUri === undefined) return "homeless";
    const reason = REASONS[code] ?? objection?.reason ?? "malformed";
    return { code, description, reason };
  }
}

const REASONS: Readonly<Record<string, Objection["reason"]>> = {
  invalid_target: "unknown-resource",
  unsupported_response_type: "unsupported",
  unauthorized_client: "unsupported",
};
