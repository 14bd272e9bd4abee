/** The login doctor's step of a token request. */

import { logUnexpected } from "../../../observability/unexpected.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import type { AuthContext } from "../../context/context.ts";
import { isServiceClientId } from "../../store/service-clients.ts";
import { claimedId } from "../../trace/clean-step.ts";
import type { StepOf, TokenReason } from "../../trace/trace.ts";
import type { TokenAnswer } from "../grants/grant-token-endpoint.ts";
import type { TokenRequest } from "../grants/token-request.ts";

/** Reasons that only a grant which existed until then can give. */
const THEN_ENDED: ReadonlySet<TokenReason | undefined> = new Set(["used-code", "replaced"]);

export async function traceToken(
  context: AuthContext,
  request: TokenRequest,
  { response, reason: found }: TokenAnswer,
): Promise<void> {
  const { trace } = context;
  const { clientId, grantType, subject } = request;
  const grant = subject === undefined ? {} : { grant: subject.grant };
  if (response.ok) {
    if (grantType !== "authorization_code") return;
    trace({ kind: "token_issued", client: clientId, ...grant });
    return;
  }
  const { error } = await response.clone().json<{ readonly error: string }>();
  const isKnown = await orFalse(isClient(context, clientId));
  const unproved = isKnown ? "wrong-secret" : "unknown-client";
  const reason = error === "invalid_client" ? unproved : found;
  const isTheirs =
    isKnown && (THEN_ENDED.has(reason) || (await orFalse(hasGrant(context, request))));
  trace({
    kind: "token_refused",
    grantType: grantTypeOf(request),
    error,
    ...(isKnown ? { client: clientId } : claimedId(clientId)),
    ...(isTheirs && grant),
    ...(reason !== undefined && { reason }),
  });
}

/** The client may send any text as grant type, a token for example. */
function grantTypeOf({
  grantType,
  isRevocation,
}: TokenRequest): StepOf<"token_refused">["grantType"] {
  switch (grantType) {
    case "authorization_code":
    case "refresh_token":
    case "client_credentials":
      return grantType;
    default:
      return isRevocation ? "revocation" : "other";
  }
}

/** No document is loaded, and the client is not authenticated. */
async function isClient(
  { store, authority, engine }: AuthContext,
  clientId: string,
): Promise<boolean> {
  if (clientId === "") return false;
  if (isServiceClientId(clientId)) {
    return (await store.ofClient(clientId).services.find(clientId)) !== undefined;
  }
  if (isDocumentUrl(clientId)) {
    return (await store.ofDocument(clientId).documents.find(clientId)).kind === "client";
  }
  return (await authority.helpers(engine).lookupClient(clientId)) !== null;
}

/** Anyone can make up the names of a client and a grant. */
async function hasGrant(
  { store }: AuthContext,
  { clientId, subject }: TokenRequest,
): Promise<boolean> {
  return subject !== undefined && store.ofUser(subject.user).grants.isOf(clientId, subject);
}

/** A failure to find out for the doctor does not affect the response. */
async function orFalse(found: Promise<boolean>): Promise<boolean> {
  try {
    return await found;
  } catch (error) {
    logUnexpected(error);
    return false;
  }
}
