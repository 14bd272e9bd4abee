/**
 * A Client ID Metadata Document as a client (draft-ietf-oauth-client-id-metadata-document, section
 * 4; RFC 7591 section 2 for the members). A feature that this server does not support is left out
 * where the client can do without it, because one document serves every authorization server.
 */

import { hashOf } from "../../lib/random.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import { GRANT_TYPES, isLink, isListOfStrings } from "./client-metadata.ts";
import {
  type AssertionKeys,
  type AuthenticationProblem,
  type AuthMethod,
  readAuthentication,
} from "./document-keys.ts";
import { judgeRedirectUris, type RedirectProblem } from "./redirect-uris.ts";

/**
 * The record of a client, as `@cloudflare/workers-oauth-provider` 1.2.3 makes it from a document.
 */
export interface ClientRecord {
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUris: readonly string[];
  readonly clientUri?: string;
  readonly logoUri?: string;
  readonly policyUri?: string;
  readonly tosUri?: string;
  readonly jwksUri?: string;
  readonly grantTypes: readonly string[];
  readonly responseTypes: readonly string[];
  /** The first of the methods below. */
  readonly tokenEndpointAuthMethod: AuthMethod;
  readonly tokenEndpointAuthMethods: readonly AuthMethod[];
  readonly clientAssertionKeys?: AssertionKeys;
}

export type DocumentProblem =
  | AuthenticationProblem
  | RedirectProblem
  | "not-an-object"
  | "other-client-id"
  | "no-name"
  | "no-code-grant";

export type ParsedDocument =
  | { readonly kind: "client"; readonly client: ClientRecord }
  | { readonly kind: "refused"; readonly problem: DocumentProblem };

const MAX_NAME_CHARS = 256;
const LINKS = {
  clientUri: "client_uri",
  logoUri: "logo_uri",
  policyUri: "policy_uri",
  tosUri: "tos_uri",
} as const;

/** @param url the address that the document was loaded from, as the client id spells it. */
export function parseClientDocument(url: string, document: unknown): ParsedDocument {
  if (!isObject(document)) return refused("not-an-object");
  const { client_id: id, client_name: name, redirect_uris: uris = [] } = document;
  const { grant_types: grants = ["authorization_code"], response_types: responses = ["code"] } =
    document;
  // The server of this document speaks for this client id and for no other.
  if (id !== url) return refused("other-client-id");
  if (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME_CHARS) {
    return refused("no-name");
  }
  const redirectUris = isListOfStrings(uris) ? uris : [];
  const problem = judgeRedirectUris(redirectUris);
  if (problem !== undefined) return refused(problem);
  const authentication = readAuthentication(document);
  if (typeof authentication === "string") return refused(authentication);
  const { methods, keys } = authentication;
  if (!isListOfStrings(grants) || !grants.includes("authorization_code")) {
    return refused("no-code-grant");
  }
  if (!isListOfStrings(responses) || !responses.includes("code")) return refused("no-code-grant");
  const client: ClientRecord = {
    clientId: url,
    clientName: name,
    redirectUris,
    ...links(document),
    ...(keys?.jwksUri !== undefined && { jwksUri: keys.jwksUri }),
    grantTypes: GRANT_TYPES.filter((type) => grants.includes(type)),
    responseTypes: ["code"],
    tokenEndpointAuthMethod: methods[0],
    tokenEndpointAuthMethods: methods,
    ...(keys !== undefined && { clientAssertionKeys: keys }),
  };
  return { kind: "client", client };
}

/**
 * A digest of what a user approved: the redirect URIs, the authentication, and the name of the
 * client. A document with another digest needs a new approval.
 */
export function documentDigestOf(client: ClientRecord): Promise<string> {
  const { clientName, redirectUris, tokenEndpointAuthMethods, clientAssertionKeys } = client;
  const { jwks, jwksUri } = clientAssertionKeys ?? {};
  const keys = jwks?.keys.map((key) => JSON.stringify(Object.entries(key).toSorted(byName)));
  const said = [
    redirectUris.toSorted(),
    keys?.toSorted() ?? jwksUri ?? null,
    clientName,
    tokenEndpointAuthMethods,
  ];
  return hashOf(JSON.stringify(said));
}

/**
 * The record with which the library serves a client whose assertion was verified already: the
 * library then asks for no further proof. Without it, the library refuses every client that has to
 * sign.
 */
export function asVerified(client: ClientRecord): ClientRecord {
  return { ...client, tokenEndpointAuthMethod: "none" };
}

/** The links that may be shown; a value that is not a link is left out. */
function links(document: Readonly<Record<string, unknown>>): Partial<ClientRecord> {
  const found = Object.entries(LINKS).map(([name, member]) => [name, document[member]] as const);
  return Object.fromEntries(found.filter(([, value]) => isLink(value, ["https:"])));
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function refused(problem: DocumentProblem): ParsedDocument {
  return { kind: "refused", problem };
}
