/**
 * The causes for which an application could not register, request access, continue its request, or
 * get a token: for its code, or for its earlier token.
 */

import type { DocumentRefusal } from "../clients/client-documents.ts";
import type { Limits } from "../../policy/limits.ts";
import type { AskRefusal, AttemptRefusal, StepOf, TracedStep } from "../trace/trace.ts";

/** The data that a judge has beside the step that it judges. */
export interface EarlierSteps {
  /** Every step up to and including this one, in order of time. */
  readonly steps: readonly TracedStep[];
  /** Milliseconds since the step. */
  readonly age: number;
  readonly limits: Pick<Limits, "attemptMinutes" | "codeSeconds">;
}

const FORGOTTEN =
  "The client id is not known any more: remove the server from the application and add it again.";
const TOO_OFTEN = "There were too many requests from this address: wait a minute and try again.";

/** RFC 7591 section 3.2.2. */
export function registrationCause({ error, redirectUris }: StepOf<"registration_refused">): string {
  switch (error) {
    case "limited":
      return "Too many applications registered from this address: wait a minute and try again.";
    case "invalid_redirect_uri":
      return `The application wanted to register a redirect address that is not allowed${listed(redirectUris)}.`;
    case "invalid_client_metadata":
      return "The application's registration says something that is not supported here.";
    default:
      return "The application's registration could not be read.";
  }
}

const ASK_CAUSES: Readonly<Record<AskRefusal, string>> = {
  "unknown-client": FORGOTTEN,
  document: "The document that the application's client id leads to could not be used.",
  "redirect-mismatch": "The application asked for a redirect address that it has not registered.",
  "unknown-resource": "The application asked for a resource that is not here.",
  "unknown-scope": "The application asked for scopes, and none of them is to be had here.",
  "no-pkce": "The application did not use PKCE with S256, which is needed here.",
  unsupported: "The application asked in a way that is not supported here.",
  malformed: "The application's request could not be read: something is missing or came twice.",
  limited: TOO_OFTEN,
};

/** The causes for which a client's metadata document could not be used. */
const DOCUMENT_CAUSES: Readonly<Record<DocumentRefusal, string>> = {
  "bad-url": "The application's client id is not the address of a metadata document.",
  "not-accepted": "Applications of this host are not accepted here.",
  refused: "The application's metadata document is at an address that is not asked from here.",
  unreachable: "The host of the application's metadata document could not be reached.",
  timeout: "The host of the application's metadata document did not answer in time.",
  redirect: "The application's metadata document is not there: its host redirects to elsewhere.",
  gone: "The application's metadata document is not there any more.",
  status: "The host of the application's metadata document answered with an error.",
  "media-type": "The application's metadata document is not JSON.",
  "too-large": "The application's metadata document is too large.",
  malformed: "The application's metadata document could not be read.",
  "not-an-object": "The application's metadata document is not a JSON object.",
  "other-client-id": "The application's metadata document is that of another client id.",
  "no-name": "The application's metadata document has no client_name.",
  "no-code-grant": "The application's metadata document is for no authorization code.",
  "no-redirect-uris": "The application's metadata document has no redirect address.",
  "bad-redirect-uri":
    "The application's metadata document has a redirect address that is not allowed.",
  "has-secret":
    "The application's metadata document relies on a shared secret, which it cannot keep.",
  "has-private-key": "The application's metadata document has a private key in it.",
  "bad-keys": "The keys in the application's metadata document could not be read.",
  "bad-method":
    "The application's metadata document asks for a way to authenticate that is not supported here.",
};

export function askCause({
  reason,
  redirectUri,
  registered,
  resource,
  detail,
}: StepOf<"ask_refused">): string {
  if (reason === "redirect-mismatch" && redirectUri !== undefined) {
    const [first] = registered ?? [];
    const known = nearest(redirectUri, registered ?? []) ?? first;
    if (known === undefined) return ASK_CAUSES[reason];
    return `The application was registered with ${known} but asked for ${redirectUri}.`;
  }
  if (reason === "unknown-resource" && resource !== undefined) {
    return `The application asked for a resource that is not here: ${resource}.`;
  }
  // The cause is known where the document was loaded.
  if (reason === "document" && detail !== undefined) {
    return new Map(Object.entries(DOCUMENT_CAUSES)).get(detail) ?? detail;
  }
  return ASK_CAUSES[reason];
}

/**
 * @returns the registered redirect URI that was probably meant: the one with the same path, or the
 *   same host.
 */
function nearest(asked: string, registered: readonly string[]): string | undefined {
  if (!URL.canParse(asked)) return undefined;
  const { pathname, host } = new URL(asked);
  const urls = registered.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri));
  const found =
    urls.find((url) => url.pathname === pathname) ?? urls.find((url) => url.host === host);
  return found?.href;
}

const ATTEMPT_CAUSES: Readonly<Record<AttemptRefusal, string>> = {
  expired: "The page was left open for too long: start again from the application.",
  used: "The page was sent twice, or opened again with the browser's back button: start again from the application.",
  "other-browser":
    "The attempt went on in another browser than it began in, or the browser keeps no cookies.",
  ended:
    "The person was signed out while they approved the application: start again from the application.",
  "foreign-origin": "The answer did not come from this gateway's own page.",
  malformed: "The answer could not be read: start again from the application.",
};

export function attemptCause({ reason }: StepOf<"attempt_refused">): string {
  return ATTEMPT_CAUSES[reason];
}

function listed(uris: readonly string[] | undefined): string {
  return uris === undefined || uris.length === 0 ? "" : `: ${uris.join(", ")}`;
}

const CONNECT_AGAIN = "connect the application again";

export function tokenCause(
  { step, at }: TracedStep<StepOf<"token_refused">>,
  { steps, limits }: EarlierSteps,
): string {
  const isRefresh = step.grantType === "refresh_token";
  switch (step.error) {
    case "invalid_client":
      return clientCause(step);
    case "invalid_grant":
      return isRefresh ? refreshCause(step) : codeCause(step, at, steps, limits.codeSeconds);
    case "invalid_target":
      return "The application asked for a token for another resource than it was approved for.";
    case "invalid_scope":
      return "The application asked for scopes that it was not given.";
    case "unauthorized_client":
    case "unsupported_grant_type":
      return "The application asked for a token in a way that is not supported here.";
    case "temporarily_unavailable":
      return passingCause(step);
    default:
      return "The application's request for a token could not be read.";
  }
}

type Refused = StepOf<"token_refused">;

/** A request that may be sent again as it is. */
function passingCause({ reason }: Refused): string {
  switch (reason) {
    case "limited":
      return "The application asked for tokens too often: it has to use each of them for longer.";
    case "document":
      return "Too many metadata documents of applications were asked for at that host: the application will try again.";
    case "host-fails":
      return "The application's own host did not give its metadata document, or its keys: the application will try again.";
    case "internal-error":
      return "The gateway itself failed, and its log says how: the application will try again.";
    default:
      return "The sign-in provider could not be reached: the application will try again.";
  }
}

function clientCause({ reason }: Refused): string {
  return reason === "wrong-secret"
    ? "The application did not prove who it is: its secret is missing or wrong."
    : FORGOTTEN;
}

function codeCause(
  { reason }: Refused,
  at: number,
  steps: readonly TracedStep[],
  codeSeconds: number,
): string {
  const issued = steps.findLast(({ step }) => step.kind === "code_issued");
  const isSpent = steps.some(
    (traced) => traced.step.kind === "token_issued" && traced.at >= (issued?.at ?? 0),
  );
  if (reason === "used-code" || (isSpent && issued !== undefined)) {
    return `The application sent its code twice, so its access was ended: ${CONNECT_AGAIN}.`;
  }
  switch (reason) {
    case "verifier":
      return "The application's code verifier does not belong to its request: it may have begun twice at once.";
    case "redirect":
      return "The application named another redirect address for its code than it had asked for.";
    case "other-client":
      return "The application sent a code that was given to another one.";
    default: {
      const tookMs = issued === undefined ? 0 : at - issued.at;
      return tookMs >= codeSeconds * 1000
        ? `The application sent its code too late: it is good for ${codeSeconds} seconds.`
        : "The application sent a code that is not good, or not any more.";
    }
  }
}

function refreshCause({ reason }: Refused): string {
  switch (reason) {
    case "expired":
      return `The application's access was not used for too long: ${CONNECT_AGAIN}.`;
    case "ended":
      return `The application's access was ended: ${CONNECT_AGAIN}.`;
    case "replaced":
      return `The application sent a token that was replaced before: it lost its newest one, or somebody has a copy. Its access was ended: ${CONNECT_AGAIN}.`;
    case "other-client":
      return "The application sent a token that was given to another one.";
    case "provider-ended":
      return "The sign-in provider has ended the person's session: they have to sign in again.";
    case "too-old":
      return `The person signed in too long ago: ${CONNECT_AGAIN}.`;
    case "user-gone":
      return "The person may not use this gateway any more.";
    default:
      return `The application sent a token that is not good any more: ${CONNECT_AGAIN}.`;
  }
}
