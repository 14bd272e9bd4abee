/**
 * The token endpoint in the Worker: it judges what can be judged without a grant, and passes the
 * rest to the object that holds the grant. Revocation (RFC 7009) has the same address.
 */

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { logUnexpected } from "../../../observability/unexpected.ts";
import { addressOf, type AuthContext } from "../../context/context.ts";
import { claimedId } from "../../trace/mask.ts";
import { takeReason, type TokenReason } from "../../trace/token-reasons.ts";
import type { StepOf } from "../../trace/trace.ts";
import { isServiceClientId } from "../../store/service-clients.ts";
import { clientCredentials } from "./client-credentials.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import { asOurs, oauthError, tooManyRequests } from "./oauth-error.ts";
import { tokenOfDocument } from "./token-of-document.ts";
import type { TokenForm } from "../grants/token-form.ts";
import { asRequest, readTokenRequest, type TokenRequest } from "./token-request.ts";

const TOO_MANY = "Too many requests for tokens failed";

/**
 * The time until which the requests of an application at an address are refused, in milliseconds
 * since 1970.
 */
const paused = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: 60_000 });

export async function token(context: AuthContext, request: Request): Promise<Response> {
  const reading = await readTokenRequest(request, context.origin);
  if (!reading.ok) return reading.response;
  const { form } = reading.request;
  const address = addressOf(request);
  const caller = `${context.origin} ${address} ${form.clientId}`;
  const pause = Math.ceil(((paused.get(caller) ?? 0) - Date.now()) / 1000);
  if (pause > 0) return tooManyRequests(TOO_MANY, pause);
  const { response, reason } = takeReason(await answerSafely(context, reading.request));
  await note(context, reading.request, response, reason);
  if (response.status !== 401) return response;
  // Failures are counted for each address and stop only the application that fails: all users of a
  // hosted client come from the same few addresses.
  const { tokenFailuresPerMinute } = context.limits;
  const key = `token:${address}`;
  const wait = await context.store.ephemeral(key).limits.take(key, tokenFailuresPerMinute);
  if (wait === 0) return response;
  paused.set(caller, Date.now() + wait * 1000);
  return tooManyRequests(TOO_MANY, wait);
}

/** A failure of an object is temporary, and a refresh may be sent again: no answer was lost. */
async function answerSafely(context: AuthContext, request: TokenRequest): Promise<Response> {
  try {
    return asOurs(await answer(context, request));
  } catch (error) {
    const description = `Something went wrong here (reference ${logUnexpected(error)})`;
    const options = { status: 503, headers: { "Retry-After": "2" } };
    return oauthError("temporarily_unavailable", description, options);
  }
}

function answer(context: AuthContext, request: TokenRequest): Promise<Response> {
  const { form } = request;
  if (form.grantType === "client_credentials") return clientCredentials(context, request);
  if (isDocumentUrl(form.clientId)) return tokenOfDocument(context, request);
  const plain = asRequest(request, context.origin);
  // Without a grant nothing can be redeemed: the library reports what is wrong with the rest.
  if (form.subject === undefined) return context.authority.fetch(plain, context.engine);
  return context.store.ofUser(form.subject.user).token(plain);
}

/** Reasons that only a grant which existed until then can give. */
const THEN_ENDED: ReadonlySet<TokenReason> = new Set(["used-code", "replaced"]);

/** For the login doctor. */
async function note(
  context: AuthContext,
  { form }: TokenRequest,
  response: Response,
  found: TokenReason | undefined,
): Promise<void> {
  const { store, trace } = context;
  const { clientId, subject } = form;
  const grant = subject === undefined ? {} : { grant: subject.grant };
  if (response.ok) {
    if (form.grantType !== "authorization_code") return;
    trace({ kind: "token_issued", client: clientId, ...grant });
    return;
  }
  const { error } = await response.clone().json<{ readonly error: string }>();
  const isKnown = await isClient(context, clientId);
  const unproved = isKnown ? "wrong-secret" : "unknown-client";
  const reason = error === "invalid_client" ? unproved : found;
  const isTheirs = reason !== undefined && THEN_ENDED.has(reason);
  trace({
    kind: "token_refused",
    grantType: grantTypeOf(form),
    error,
    ...(isKnown ? { client: clientId } : claimedId(clientId)),
    ...(isKnown && (isTheirs || (await hasGrant(store, form))) && grant),
    ...(reason !== undefined && { reason }),
  });
}

/** The client may send any text as grant type, a token for example. */
function grantTypeOf({ grantType, credential }: TokenForm): StepOf<"token_refused">["grantType"] {
  switch (grantType) {
    case "authorization_code":
    case "refresh_token":
    case "client_credentials":
      return grantType;
    default:
      return grantType === "" && credential !== "" ? "revocation" : "other";
  }
}

/**
 * @returns whether the client exists: no document is loaded, and the client is not authenticated.
 */
async function isClient(
  { store, authority, engine }: AuthContext,
  clientId: string,
): Promise<boolean> {
  if (clientId === "") return false;
  try {
    if (isServiceClientId(clientId)) {
      return (await store.ofClient(clientId).services.find(clientId)) !== undefined;
    }
    if (isDocumentUrl(clientId)) {
      return (await store.ofDocument(clientId).documents.find(clientId)).kind === "client";
    }
    return (await authority.helpers(engine).lookupClient(clientId)) !== null;
  } catch (error) {
    logUnexpected(error);
    return false;
  }
}

/** Anyone can make up the names of a client and a grant. */
async function hasGrant(
  store: AuthContext["store"],
  { clientId, subject }: TokenForm,
): Promise<boolean> {
  if (subject === undefined) return false;
  try {
    return await store.ofUser(subject.user).grants.isOf(clientId, subject);
  } catch (error) {
    logUnexpected(error);
    return false;
  }
}
