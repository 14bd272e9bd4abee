/**
 * The authorization endpoint (RFC 6749 section 3.1), up to the question that the person is asked.
 * The checks run from top to bottom, and the first one that finds something ends the request. Only
 * the person gets the error until the redirect URI is known to be the client's; then the application
 * gets it (section 4.1.2.1). Some checks are for what the library lets pass: repeated parameters,
 * parameters of profiles that are not served, missing PKCE of clients with a secret, and the
 * spellings of a resource that real clients send.
 */

import { AuthorizationError, type AuthRequest } from "@cloudflare/workers-oauth-provider";

import { redirectKind } from "../../clients/redirect-uris.ts";
import type { AuthContext } from "../../context/context.ts";
import { canonicalResource, resourceForScopes } from "../../resources.ts";
import { ADMIN, choose } from "../../scopes.ts";
import { answerError, issueCode } from "../../sign-in/issue.ts";
import { changesSince, isCovered, NO_CHANGES } from "../../sign-in/approval-rules.ts";
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
import { newHandle, openAttempt } from "../../sign-in/held-attempt.ts";
import { whoIsThere } from "../../sign-in/admit.ts";
import { choices } from "../../sign-in/redirect-to-provider.ts";
import { limitKeyOf, mayAsk } from "../../sign-in/sign-in-limits.ts";
import type { User } from "../../store/users.ts";
import { claimedId } from "../../trace/clean-step.ts";
import { type Check, firstFinding } from "./check.ts";

/** The errors that only the person gets. */
const READABLE: readonly Check<Query, Unreadable>[] = [
  limitLength,
  rejectRepeatedParameters, // RFC 6749 section 3.1: MUST NOT be included more than once
  checkClientId, // RFC 6749 section 4.1.1: REQUIRED
  checkRedirectUri, // RFC 6749 section 3.1.2
];

/** The errors that the application gets, if the library itself finds none. */
const SERVED: readonly Check<Query, Objection>[] = [
  rejectRequestObject, // RFC 9101 section 6.3
  rejectRequestUri, // RFC 9101 section 6.3
  rejectResponseMode, // OAuth 2.0 Multiple Response Type Encoding Practices, section 2.1
  rejectPromptNone, // OpenID Connect Core section 3.1.2.6
  requirePkce, // OAuth 2.1 section 4.1.1: for every client; the library exempts those with a secret
  requireOneResource, // RFC 8707 section 2
];

export async function authorize(context: AuthContext, request: Request): Promise<SignInOutcome> {
  const reading = readAuthorizeRequest(request, context.origin);
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

interface Query {
  /** With its question mark. */
  readonly search: string;
  readonly sent: URLSearchParams;
  /**
   * Those with a value: a parameter without one MUST be treated as if it were not there (RFC 6749
   * section 3.1).
   */
  readonly params: URLSearchParams;
  readonly prompts: readonly string[];
}

interface Unreadable {
  readonly kind: "unreadable";
  readonly status: 400 | 414;
  readonly sentence: string;
}

/** An OAuth error for the application. */
interface Objection {
  /** An error code of RFC 6749 section 4.1.2.1 or of its extensions. */
  readonly code: string;
  readonly description: string;
  /** For the login doctor. */
  readonly reason: "malformed" | "unsupported" | "no-pkce" | "unknown-resource" | "unknown-scope";
}

interface ReadRequest {
  readonly kind: "read";
  /** The request for the library. */
  readonly request: Request;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly objection: Objection | undefined;
  /** The client demands a consent page, whatever the user answered before. */
  readonly asksForConsent: boolean;
  /** The client demands a new sign-in. */
  readonly asksForLogin: boolean;
}

export type AuthorizeReading = Unreadable | ReadRequest;

/** @param origin the issuer, under which the request is served. */
export function readAuthorizeRequest({ url }: Request, origin: string): AuthorizeReading {
  const { search, searchParams: sent } = new URL(url);
  const params = new URLSearchParams([...sent].filter(([, value]) => value !== ""));
  const prompts = (params.get("prompt") ?? "").split(" ");
  const query = { search, sent, params, prompts };
  return (
    firstFinding(READABLE, query) ?? {
      kind: "read",
      request: asTheLibraryReadsIt(params, origin),
      clientId: params.get("client_id") ?? "",
      redirectUri: params.get("redirect_uri") ?? "",
      state: params.get("state") ?? "",
      objection: firstFinding(SERVED, query),
      asksForConsent: prompts.includes("consent"),
      asksForLogin: prompts.includes("login") || prompts.includes("select_account"),
    }
  );
}

function asTheLibraryReadsIt(params: URLSearchParams, origin: string): Request {
  const url = new URL("/authorize", origin);
  for (const [name, value] of params) {
    url.searchParams.append(name, name === "resource" ? canonicalResource(origin, value) : value);
  }
  return new Request(url);
}

const MAX_QUERY_CHARS = 8 * 1024;

function limitLength({ search }: Query): Unreadable | undefined {
  if (search.length <= MAX_QUERY_CHARS) return undefined;
  return unreadable("The request is longer than 8 KB.", 414);
}

/** There may be several resources at this point, so that the application gets the error. */
function rejectRepeatedParameters({ sent }: Query): Unreadable | undefined {
  const names = [...sent.keys()].filter((name) => name !== "resource");
  if (new Set(names).size === names.length) return undefined;
  return unreadable("The request has a parameter twice, so it is not clear what it asks for.");
}

const MAX_CLIENT_ID_CHARS = 512;

function checkClientId({ params }: Query): Unreadable | undefined {
  const clientId = params.get("client_id") ?? "";
  if (clientId === "") return unreadable("The request does not say which application it is of.");
  // Invisible characters forge log lines.
  if (clientId.length <= MAX_CLIENT_ID_CHARS && /^[\x21-\x7e]+$/.test(clientId)) return undefined;
  return unreadable("The request has a client_id that no application has.");
}

function checkRedirectUri({ params }: Query): Unreadable | undefined {
  switch (redirectKind(params.get("redirect_uri") ?? "")) {
    case "unused":
      return unreadable(
        "Answers go to addresses with https, or to this computer, and to no others.",
      );
    case "refused":
      return unreadable("The request does not say where the answer is to go, or says it wrongly.");
    default:
      return undefined;
  }
}

function unreadable(sentence: string, status: 400 | 414 = 400): Unreadable {
  return { kind: "unreadable", status, sentence };
}

function rejectRequestObject({ params }: Query): Objection | undefined {
  if (!params.has("request")) return undefined;
  return unsupported("request_not_supported", "Request objects are not supported");
}

function rejectRequestUri({ params }: Query): Objection | undefined {
  if (!params.has("request_uri")) return undefined;
  return unsupported("request_uri_not_supported", "Request objects are not supported");
}

function rejectResponseMode({ params }: Query): Objection | undefined {
  if ((params.get("response_mode") ?? "query") === "query") return undefined;
  return unsupported("invalid_request", "The only response_mode is query");
}

function rejectPromptNone({ prompts }: Query): Objection | undefined {
  if (!prompts.includes("none")) return undefined;
  return unsupported("interaction_required", "Nobody is signed in without seeing a page");
}

/** RFC 7636 section 4.2: the base64url of a SHA-256 hash. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

function requirePkce({ params }: Query): Objection | undefined {
  const isS256 = params.get("code_challenge_method") === "S256";
  if (isS256 && CHALLENGE.test(params.get("code_challenge") ?? "")) return undefined;
  const description = "PKCE is required: a code_challenge with the method S256";
  return { code: "invalid_request", description, reason: "no-pkce" };
}

function requireOneResource({ params }: Query): Objection | undefined {
  if (params.getAll("resource").length < 2) return undefined;
  const description = "A token is for one resource: ask for one";
  return { code: "invalid_target", description, reason: "unknown-resource" };
}

function unsupported(code: string, description: string): Objection {
  return { code, description, reason: "unsupported" };
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
  const { handle, id } = await newHandle();
  const cookies = await openAttempt(context, request, {
    handle,
    id,
    stage: "consent",
    content: user === undefined ? content : { ...content, shownTo: user.id },
  });
  context.trace({ kind: "consent_shown", client: client.id, attempt: id });
  const changes = user === undefined ? NO_CHANGES : changesSince(content, approvals);
  return { kind: "consent", handle, content, cookies, user, changes };
}

/**
 * @returns whether the request is a navigation: a page that another page loads in the background
 *   cannot ask a question.
 */
function isNavigation({ headers }: Request): boolean {
  const mode = headers.get("sec-fetch-mode") ?? "navigate";
  return mode === "navigate" && (headers.get("sec-fetch-dest") ?? "document") === "document";
}
