/**
 * A token request as all later code reads it: the parameters that this server knows, each once and
 * in one order, and nothing else. No two readers can interpret it differently, and the same request
 * has the same text.
 */

import {
  basicCredentials,
  credentialField,
  readTokenForm,
  type TokenForm,
} from "../grants/token-form.ts";
import { canonicalResource } from "../../resources.ts";
import { claimedClient } from "../../clients/client-assertion.ts";
import { readOAuthBody } from "./oauth-body.ts";
import { invalidClient, oauthError } from "./oauth-error.ts";

export interface TokenRequest {
  readonly form: TokenForm;
  readonly params: URLSearchParams;
  /** The `Authorization` header, when the client used HTTP authentication. */
  readonly authorization: string | null;
}

export type TokenRequestReading =
  | { readonly ok: true; readonly request: TokenRequest }
  | { readonly ok: false; readonly response: Response };

/** RFC 6749, 7009, 7523, 7636 and 8707. */
const PARAMETERS = [
  ...["grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource"],
  ...["client_id", "client_secret", "client_assertion_type", "client_assertion"],
  ...["token", "token_type_hint"],
];
/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const MAX_CLIENT_ID_CHARS = 512;
/** A value in the shape of no token, so that the library looks nothing up for it. */
const NOTHING = "malformed";

/** @param origin the issuer. */
export async function readTokenRequest(
  request: Request,
  origin: string,
): Promise<TokenRequestReading> {
  const body = await readOAuthBody(request, "application/x-www-form-urlencoded");
  if (!body.ok) return body;
  const query = new URL(request.url).searchParams;
  if (PARAMETERS.some((name) => query.has(name))) {
    return refuse("Parameters belong into the body: addresses end up in logs");
  }
  // RFC 6749 section 3.2: without a value, it MUST be treated as if it were not there.
  const sent = [...new URLSearchParams(body.text)].filter(([, value]) => value !== "");
  const params = new URLSearchParams();
  for (const name of PARAMETERS) {
    const values = sent.filter(([key]) => key === name).map(([, value]) => value);
    // RFC 6749 section 3.2: MUST NOT be included more than once. Of resources there may be several.
    if (values.length > 1 && name !== "resource") return refuse(`${name} is there more than once`);
    for (const value of values) {
      params.append(name, name === "resource" ? canonicalResource(origin, value) : value);
    }
  }
  const header = request.headers.get("authorization");
  const authorization = /^Basic(?:[ \t]|$)/i.test(header ?? "") ? header : null;
  return judge(params, authorization);
}

function judge(params: URLSearchParams, authorization: string | null): TokenRequestReading {
  const basic = basicCredentials(authorization);
  if (authorization !== null && basic === undefined) {
    // The library would interpret a header that no check here has judged.
    return { ok: false, response: invalidClient("The Authorization header is broken", true) };
  }
  // Many clients repeat their id beside the header.
  if (basic?.user === params.get("client_id")) params.delete("client_id");
  const assertion = params.get("client_assertion");
  if (assertion !== null && basic === undefined && !params.has("client_id")) {
    const claimed = claimedClient(assertion);
    if (claimed !== undefined) params.set("client_id", claimed);
  }
  const form = readTokenForm(params, new Headers(authorization === null ? {} : { authorization }));
  const { clientId, grantType, credential, subject } = form;
  // Invisible characters forge log lines.
  if (clientId.length > MAX_CLIENT_ID_CHARS || !/^[\x21-\x7e]*$/.test(clientId)) {
    return refuse("client_id is none that any client has");
  }
  const field = credentialField(grantType);
  if (field !== undefined && credential !== "" && subject === undefined) params.set(field, NOTHING);
  if (grantType === "authorization_code") {
    // OAuth 2.1 section 4.1.3: for every client. The library exempts those with a secret.
    const verifier = params.get("code_verifier");
    if (verifier === null) return refuse("code_verifier is missing");
    if (!VERIFIER.test(verifier)) return refuse("code_verifier must have 43 to 128 characters");
  }
  return { ok: true, request: { form, params, authorization } };
}

/** @returns the same request in the form that the library reads. */
export function asRequest({ params, authorization }: TokenRequest, origin: string): Request {
  return new Request(`${origin}/token`, {
    method: "POST",
    headers: authorization === null ? {} : { Authorization: authorization },
    body: params,
  });
}

/** @returns the request of a client that has authenticated already. */
export function asVerifiedRequest(request: TokenRequest, origin: string): Request {
  const params = new URLSearchParams(request.params);
  for (const name of ["client_assertion", "client_assertion_type"]) params.delete(name);
  params.set("client_id", request.form.clientId);
  return asRequest({ ...request, params, authorization: null }, origin);
}

function refuse(description: string): TokenRequestReading {
  return { ok: false, response: oauthError("invalid_request", description) };
}
