/**
 * The authorization endpoint (RFC 6749 section 3.1), up to the question that the person is asked: what
 * the request says (`authorization-request.ts`), which application sent it, who is there, and whether it
 * can be served.
 */

import { AuthorizationError, type AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { AuthContext } from "../../context/context.ts";
import { resourceForScopes } from "../../resources.ts";
import { ADMIN, choose } from "../../scopes.ts";
import { answerError, issueCode } from "../../sign-in/issue.ts";
import { isCovered } from "../../sign-in/approval-rules.ts";
import { askForConsent } from "../../sign-in/ask-for-consent.ts";
import { findClient, type FoundClient } from "../../sign-in/asking-client.ts";
import {
  type AuthorizeContent,
  type Ending,
  type Problem,
  problem,
  type SignedInPerson,
  type SignInOutcome,
  withCookies,
} from "../../sign-in/attempt.ts";
import { isFresh } from "../../sign-in/browser.ts";
import { whoIsThere } from "../../sign-in/admit.ts";
import { choices } from "../../sign-in/redirect-to-provider.ts";
import { limitKeyOf, mayAsk } from "../../sign-in/sign-in-limits.ts";
import type { User } from "../../store/users.ts";
import { claimedId } from "../../trace/clean-step.ts";
import {
  type Objection,
  readAuthorizeRequest,
  type ReadRequest,
  type Unreadable,
} from "./authorization-request.ts";

export async function authorize(context: AuthContext, request: Request): Promise<SignInOutcome> {
  const reading = readAuthorizeRequest(request, context.origin, context.authority.isPublishingOn);
  if (reading.kind === "unreadable") return showUnreadable(context, reading);
  const wait = await mayAsk(context, request);
  if (wait !== undefined) return showLimited(context, reading, wait);
  const [found, there] = await Promise.all([
    knownClient(context, request, reading),
    whoIsThere(context, request),
  ]);
  if (found.kind === "problem") return found;
  if (there.kind === "problem") return there;
  const content = await judgeAuthorization(context, reading, found, there.person?.user);
  if (content.kind !== "authorize") return content;
  // The page shows nothing about a person who has to sign in anew.
  const person = content.needsLogin ? undefined : there.person;
  const isAsked = reading.asksForConsent || !isNavigation(request);
  const outcome = await issueOrAsk(context, request, { content, person, isAsked });
  return withCookies(outcome, there.cookies);
}

function showUnreadable(context: AuthContext, { status, sentence }: Unreadable): Problem {
  const step = { kind: "ask_refused", reason: "malformed", detail: sentence } as const;
  const reference = context.trace(step);
  return problem(status === 414 ? "too-long" : "unreadable", { reference, sentence });
}

function showLimited(
  context: AuthContext,
  { clientId }: ReadRequest,
  retryAfterSeconds: number,
): Problem {
  const step = { kind: "ask_refused", reason: "limited", ...claimedId(clientId) } as const;
  return problem("limited", { reference: context.trace(step), retryAfterSeconds });
}

/** @returns the application that the request names, or the problem page when there is none. */
export async function knownClient(
  context: AuthContext,
  request: Request,
  { clientId, redirectUri }: ReadRequest,
): Promise<FoundClient | Problem> {
  const found = await findClient(context, clientId, limitKeyOf(context, request));
  const step = { kind: "ask_refused", ...claimedId(clientId), redirectUri } as const;
  switch (found.kind) {
    case "client":
      return found;
    case "unknown": {
      const reference = context.trace({ ...step, reason: "unknown-client" });
      return problem("unknown-client", { reference });
    }
    case "refused": {
      const { sentence, reason: detail } = found;
      // Only the operator learns how an address answered.
      const reference = context.trace({ ...step, reason: "document", detail });
      return problem("client-document", { reference, sentence });
    }
    case "busy": {
      const { retryAfterSeconds } = found;
      const reference = context.trace({ ...step, reason: "limited" });
      return problem("limited", { reference, retryAfterSeconds });
    }
  }
}

/**
 * Judges whether the request can be served. The library checks it first, because it decides whether
 * the redirect URI is the client's.
 *
 * @returns the question to the person, or the error for the application or the person.
 */
export async function judgeAuthorization(
  context: AuthContext,
  reading: ReadRequest,
  { client, redirectUris: registered }: FoundClient,
  user: User | undefined,
): Promise<AuthorizeContent | Ending> {
  const { clientId, redirectUri, state, objection } = reading;
  const { searchParams } = new URL(reading.request.url);
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
    const resource = searchParams.get("resource");
    const named = resource !== null && { resource };
    const reference = context.trace({ ...step, reason, ...detail, ...named });
    const answer = { code, description, reference };
    return answerError(context, { clientId, redirectUri, state }, user, answer);
  };
  if ("reason" in parsed) return refuse(parsed, {});
  if (objection !== undefined) return refuse(objection);
  const { resources } = context.authority;
  // `offline_access` is not a scope of a resource: every application may refresh.
  const requested = parsed.scope.filter((scope) => scope !== "offline_access");
  const resource = searchParams.has("resource")
    ? resources.find(({ id }) => id === parsed.resource)
    : resourceForScopes(resources, requested);
  const chosen = choose(requested, resource?.scopes ?? []);
  if (resource === undefined || chosen.kind === "none") {
    const description = "None of these scopes is to be had for this resource";
    return refuse({ code: "invalid_scope", description, reason: "unknown-scope" });
  }
  const { scopes } = chosen;
  const { name } = client;
  context.trace({
    kind: "asked",
    client: clientId,
    name,
    redirectUri,
    resource: resource.id,
    scopes,
  });
  return {
    kind: "authorize",
    startedAt: Date.now(),
    // Where a proxy identifies the person, a new sign-in is impossible.
    needsLogin: reading.asksForLogin && choices(context).length > 0,
    client,
    scopes,
    request: { ...parsed, resource: resource.id },
  };
}

/** @returns "homeless" for a request without a valid redirect URI. */
async function parse(
  { authority, engine }: AuthContext,
  { request, objection }: ReadRequest,
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

/** Sends a code to an application that was approved before; asks the person about any other. */
async function issueOrAsk(
  context: AuthContext,
  request: Request,
  {
    content,
    person,
    isAsked,
  }: {
    readonly content: AuthorizeContent;
    readonly person: SignedInPerson | undefined;
    /** The user is asked whatever they approved before. */
    readonly isAsked: boolean;
  },
): Promise<SignInOutcome> {
  const { client, scopes } = content;
  const user = person?.user;
  const approvals =
    user === undefined ? [] : await context.store.ofUser(user.id).approvals.list(user.id);
  if (person !== undefined && !isAsked && isCovered(content, approvals)) {
    if (!scopes.includes(ADMIN) || isFresh(context, person)) {
      context.trace({ kind: "answered", decision: "remembered", client: client.id });
      return issueCode(context, { content, scopes }, person);
    }
  }
  return askForConsent(context, request, content, { person, approvals });
}

/**
 * @returns whether the request is a navigation: a page that another page loads in the background
 *   cannot ask a question.
 */
function isNavigation({ headers }: Request): boolean {
  const mode = headers.get("sec-fetch-mode") ?? "navigate";
  return mode === "navigate" && (headers.get("sec-fetch-dest") ?? "document") === "document";
}
