/** The checks of authorization server metadata (RFC 8414 section 2) before anything in it is used. */

import { type EgressPolicy, judgeEgress } from "../../lib/egress.ts";
import { isLoopback } from "../../lib/loopback.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Trouble } from "../trouble.ts";
import { stringsOf } from "./load-metadata.ts";

/** The members that are used, with their names of RFC 8414, RFC 7009, RFC 7591 and RFC 9207. Plain data. */
export interface ServerMetadata {
  /** As its own document has it: all that is issued is bound to this spelling. */
  readonly issuer: string;
  /** Always there for the authorization code grant. */
  readonly authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly scopes_supported?: string[];
  readonly token_endpoint_auth_methods_supported?: string[];
  readonly token_endpoint_auth_signing_alg_values_supported?: string[];
  readonly client_id_metadata_document_supported?: boolean;
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** The grants with which the gateway gets a first token. */
export type FirstGrant = "authorization_code" | "client_credentials";

export interface MetadataDemands {
  readonly grant: FirstGrant;
  readonly pkce: "required" | "assume";
  readonly policy: EgressPolicy;
}

export type MetadataTrouble = Extract<
  Trouble,
  | "issuer-unreachable"
  | "bad-issuer-metadata"
  | "other-issuer"
  | "unsafe-endpoint"
  | "unsupported"
  | "no-pkce"
>;

export type MetadataOutcome =
  | { readonly kind: "found"; readonly metadata: ServerMetadata }
  | { readonly kind: "failed"; readonly trouble: MetadataTrouble };

/**
 * The comparison is by byte (RFC 8414 section 3.3: otherwise the metadata MUST NOT be used), with one
 * tolerance: the server's metadata may list the issuer with one trailing slash more, as Google's does.
 */
export function isIssuer(issuer: unknown, listed: string): issuer is string {
  return typeof issuer === "string" && (issuer === listed || `${issuer}/` === listed);
}

/** Judges a document whose issuer is the expected one. */
export function checkServerMetadata(
  document: JsonObject,
  issuer: string,
  demands: MetadataDemands,
): MetadataOutcome {
  const trouble = judge(document, demands);
  if (trouble !== undefined) return { kind: "failed", trouble };
  return { kind: "found", metadata: pick(document, issuer, demands) };
}

function judge(document: JsonObject, demands: MetadataDemands): MetadataTrouble | undefined {
  const { grant, policy } = demands;
  if (!isEndpoint(document["token_endpoint"], policy)) return "unsafe-endpoint";
  const grants = stringsOf(document["grant_types_supported"]) ?? DEFAULT_GRANTS;
  if (!grants.includes(grant)) return "unsupported";
  return grant === "authorization_code" ? judgeCodeGrant(document, demands) : undefined;
}

/** RFC 8414 section 2; and where the operator has entered a client of the gateway, its own grant is meant. */
const DEFAULT_GRANTS: readonly string[] = ["authorization_code", "client_credentials"];

function judgeCodeGrant(
  document: JsonObject,
  { pkce, policy }: MetadataDemands,
): MetadataTrouble | undefined {
  if (!isForBrowser(document["authorization_endpoint"], policy)) return "unsafe-endpoint";
  const responseTypes = stringsOf(document["response_types_supported"]) ?? ["code"];
  if (!responseTypes.includes("code")) return "unsupported";
  // RFC 9126 section 5: such a server accepts no other authorization request.
  if (document["require_pushed_authorization_requests"] === true) return "unsupported";
  // 2026-07-28, authorization, security considerations: without it a client MUST refuse to proceed.
  const methods = stringsOf(document["code_challenge_methods_supported"]);
  const isKnown = methods?.includes("S256") ?? pkce === "assume";
  return isKnown ? undefined : "no-pkce";
}

/** True for an address that the gateway may send a secret to. */
function isEndpoint(value: unknown, policy: EgressPolicy): value is string {
  return isPlainUrl(value) && judgeEgress(new URL(value), policy) === undefined;
}

/**
 * True for an address that a browser may be sent to. It may be private, as people may be in that network;
 * `javascript:` and `data:` would run in the gateway's name.
 */
function isForBrowser(value: unknown, policy: EgressPolicy): value is string {
  if (!isPlainUrl(value)) return false;
  const { protocol, hostname, origin } = new URL(value);
  if (protocol === "https:" || policy.configuredOrigins?.has(origin) === true) return true;
  return protocol === "http:" && policy.allowsLoopback === true && isLoopback(hostname);
}

/** Without user information, and without a fragment (RFC 6749 sections 3.1 and 3.2). */
function isPlainUrl(value: unknown): value is string {
  if (typeof value !== "string" || value.includes("#") || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}

function pick(document: JsonObject, issuer: string, { policy }: MetadataDemands): ServerMetadata {
  const text = (name: string) => ({ [name]: document[name] });
  // What is optional and unsafe is left out.
  const endpoint = (name: string) => (isEndpoint(document[name], policy) ? text(name) : {});
  const strings = (name: string) => {
    const values = stringsOf(document[name]);
    return values === undefined ? {} : { [name]: [...values] };
  };
  const flag = (name: string) => (document[name] === true ? { [name]: true } : {});
  return {
    issuer,
    ...(isForBrowser(document["authorization_endpoint"], policy) && text("authorization_endpoint")),
    token_endpoint: String(document["token_endpoint"]),
    ...endpoint("registration_endpoint"),
    ...endpoint("revocation_endpoint"),
    ...strings("scopes_supported"),
    ...strings("token_endpoint_auth_methods_supported"),
    ...strings("token_endpoint_auth_signing_alg_values_supported"),
    ...flag("client_id_metadata_document_supported"),
    ...flag("authorization_response_iss_parameter_supported"),
  };
}
