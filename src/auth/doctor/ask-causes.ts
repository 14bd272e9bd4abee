/**
 * The causes for which an application could not register, request access, or continue its request.
 */

import type { DocumentRefusal } from "../clients/document-outcome.ts";
import type { AskRefusal, AttemptRefusal, StepOf } from "../trace/trace.ts";

export const FORGOTTEN =
  "The client id is not known any more: remove the server from the application and add it again.";
export const TOO_OFTEN =
  "There were too many requests from this address: wait a minute and try again.";

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
  "foreign-origin": "The answer did not come from this gateway's own page.",
  malformed: "The answer could not be read: start again from the application.",
};

export function attemptCause({ reason }: StepOf<"attempt_refused">): string {
  return ATTEMPT_CAUSES[reason];
}

function listed(uris: readonly string[] | undefined): string {
  return uris === undefined || uris.length === 0 ? "" : `: ${uris.join(", ")}`;
}
