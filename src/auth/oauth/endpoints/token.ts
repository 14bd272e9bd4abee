/**
 * The token endpoint (RFC 6749 section 3.2) in the Worker. The checks run from top to bottom, and
 * the first one that finds something ends the request; what is left goes to the grant, in the object
 * that holds it. Revocation (RFC 7009) has the same address.
 *
 * A request that passes the checks has the parameters that this server knows, each once and in one order, and
 * nothing else. No two readers can interpret it differently, and the same request has the same text.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { claimedClient } from "../../clients/client-assertion.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import { addressOf, type AuthContext } from "../../context/context.ts";
import { canonicalResource } from "../../resources.ts";
import { isServiceClientId } from "../../store/service-clients.ts";
import type { TokenAnswer } from "../grants/grant-token-endpoint.ts";
import { basicCredentials, TokenRequest } from "../grants/token-request.ts";
import { type Check, firstFinding } from "./check.ts";
import { refuseClientCredentials, tokenOfService } from "./client-credentials.ts";
import { tokenOfDocument } from "./document-client.ts";
import {
  asOurs,
  invalidClient,
  oauthError,
  orUnavailable,
  readOAuthBody,
  tooManyRequests,
  unavailable,
} from "./oauth-http.ts";
import { traceToken } from "./trace-token.ts";

const FORM: readonly Check<SentForm, Response>[] = [
  rejectQueryParameters, // RFC 6749 section 2.3.1: MUST NOT be included in the request URI
  rejectRepeatedParameters, // RFC 6749 section 3.2: MUST NOT be included more than once
  rejectBrokenAuthorization, // RFC 6749 section 2.3.1
];

const REQUEST: readonly Check<TokenRequest, Response>[] = [
  checkClientId,
  requireVerifier, // OAuth 2.1 section 4.1.3: for every client; the library exempts some
];

export async function token(context: AuthContext, request: Request): Promise<Response> {
  const tokenRequest = await readTokenRequest(request, context);
  if (tokenRequest instanceof Response) return tokenRequest;
  const address = addressOf(request);
  const caller = `${context.origin} ${address} ${tokenRequest.clientId}`;
  const pause = Math.ceil(((paused.get(caller) ?? 0) - Date.now()) / 1000);
  if (pause > 0) return tooManyRequests(TOO_MANY, pause);
  const answer = await answerSafely(context, tokenRequest);
  await traceToken(context, tokenRequest, answer);
  return answer.response.status === 401
    ? orUnavailable(() => countFailure(context, { address, caller, response: answer.response }))
    : answer.response;
}

/** Passes the request to the grant of its type and kind of client. */
async function answerOf(context: AuthContext, request: TokenRequest): Promise<TokenAnswer> {
  const { authority, engine, origin, store } = context;
  const { grantType, clientId, subject } = request;
  if (isServiceClientId(clientId)) return tokenOfService(context, request);
  if (grantType === "client_credentials") {
    return { response: await refuseClientCredentials(context, request) };
  }
  if (isDocumentUrl(clientId)) return tokenOfDocument(context, request);
  // Without a grant nothing can be redeemed: the library reports what is wrong with the rest.
  if (subject === undefined) {
    return { response: await authority.fetch(request.toHttp(origin), engine) };
  }
  return store.ofUser(subject.user).token(origin, request);
}

/** A failure of an object is temporary, and a refresh may be sent again: no answer was lost. */
async function answerSafely(context: AuthContext, request: TokenRequest): Promise<TokenAnswer> {
  try {
    const { response, ...more } = await answerOf(context, request);
    return { response: asOurs(response), ...more };
  } catch (error) {
    return { response: unavailable(error), reason: "internal-error" };
  }
}

const TOO_MANY = "Too many requests for tokens failed";

/**
 * The time until which the requests of an application at an address are refused, in milliseconds
 * since 1970.
 */
const paused = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: 60_000 });

/**
 * Failures are counted for each address and stop only the application that fails: all users of a
 * hosted client come from the same few addresses.
 */
async function countFailure(
  { limits, store }: AuthContext,
  failed: { readonly address: string; readonly caller: string; readonly response: Response },
): Promise<Response> {
  const key = `token:${failed.address}`;
  const wait = await store.ephemeral(key).limits.take(key, limits.tokenFailuresPerMinute);
  if (wait === 0) return failed.response;
  paused.set(failed.caller, Date.now() + wait * 1000);
  return tooManyRequests(TOO_MANY, wait);
}

interface SentForm {
  readonly query: URLSearchParams;
  /**
   * Those with a value: a parameter without one MUST be treated as if it were not there (RFC 6749
   * section 3.2).
   */
  readonly params: URLSearchParams;
  /** The `Authorization` header, when the client used HTTP authentication. */
  readonly authorization: string | null;
}

/** RFC 6749, 7009, 7523, 7636 and 8707. */
const PARAMETERS = [
  ...["grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource"],
  ...["client_id", "client_secret", "client_assertion_type", "client_assertion"],
  ...["token", "token_type_hint"],
];

async function readTokenRequest(
  request: Request,
  context: Pick<AuthContext, "origin" | "authority">,
): Promise<TokenRequest | Response> {
  const body = await readOAuthBody(request, "application/x-www-form-urlencoded");
  if (body instanceof Response) return body;
  const header = request.headers.get("authorization");
  const form = {
    query: new URL(request.url).searchParams,
    params: new URLSearchParams([...new URLSearchParams(body)].filter(([, value]) => value !== "")),
    authorization: /^Basic(?:[ \t]|$)/i.test(header ?? "") ? header : null,
  };
  const refusal = firstFinding(FORM, form);
  if (refusal !== undefined) return refusal;
  const tokenRequest = normalize(form, context);
  return firstFinding(REQUEST, tokenRequest) ?? tokenRequest;
}

function rejectQueryParameters({ query }: SentForm): Response | undefined {
  if (!PARAMETERS.some((name) => query.has(name))) return undefined;
  return oauthError("invalid_request", "Parameters belong into the body: addresses end up in logs");
}

/** Of resources there may be several. */
function rejectRepeatedParameters({ params }: SentForm): Response | undefined {
  const names = PARAMETERS.filter((name) => name !== "resource");
  const repeated = names.find((name) => params.getAll(name).length > 1);
  if (repeated === undefined) return undefined;
  return oauthError("invalid_request", `${repeated} is there more than once`);
}

/** The library would interpret a header that no check here has judged. */
function rejectBrokenAuthorization(form: SentForm): Response | undefined {
  const { authorization } = form;
  if (authorization === null || basicCredentials(authorization) !== undefined) return undefined;
  return invalidClient("The Authorization header is broken", form);
}

function normalize(
  { params: sent, authorization }: SentForm,
  { origin, authority: { isPublishingOn } }: Pick<AuthContext, "origin" | "authority">,
): TokenRequest {
  const named = (value: string): string => canonicalResource(origin, value, isPublishingOn);
  const params = new URLSearchParams();
  for (const name of PARAMETERS) {
    for (const value of sent.getAll(name)) {
      params.append(name, name === "resource" ? named(value) : value);
    }
  }
  const basic = basicCredentials(authorization);
  // Many clients repeat their id beside the header.
  if (basic?.user === params.get("client_id")) params.delete("client_id");
  const assertion = params.get("client_assertion");
  if (assertion !== null && basic === undefined && !params.has("client_id")) {
    const claimed = claimedClient(assertion);
    if (claimed !== undefined) params.set("client_id", claimed);
  }
  return new TokenRequest(params, authorization);
}

const MAX_CLIENT_ID_CHARS = 512;

/** Invisible characters forge log lines. */
function checkClientId({ clientId }: TokenRequest): Response | undefined {
  if (clientId.length <= MAX_CLIENT_ID_CHARS && /^[\x21-\x7e]*$/.test(clientId)) return undefined;
  return oauthError("invalid_request", "client_id is none that any client has");
}

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

function requireVerifier({ grantType, params }: TokenRequest): Response | undefined {
  if (grantType !== "authorization_code") return undefined;
  const verifier = params.get("code_verifier");
  if (verifier === null) return oauthError("invalid_request", "code_verifier is missing");
  if (VERIFIER.test(verifier)) return undefined;
  return oauthError("invalid_request", "code_verifier must have 43 to 128 characters");
}
