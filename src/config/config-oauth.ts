/** The table `oauth` of a server: the defaults, and the mistakes that a schema does not see. */

import type { OAuthSettings } from "../accounts/settings.ts";
import type { OAuthEntry } from "./config-auth-schema.ts";
import { type FieldResolution, issuerUrl, secretField, secureUrl } from "./config-fields.ts";
import { quoted } from "./config-table.ts";

/** For whom an authorization server is asked: a person, an operator, or the gateway itself. */
export type OAuthUse = "oauth" | "oauth-shared" | "client-credentials";

/** Fills in secrets and defaults. Mistakes go to `problems`. */
export function resolveOAuth(
  use: OAuthUse,
  entry: OAuthEntry,
  resolution: FieldResolution,
): OAuthSettings {
  const settings = resolve(entry, resolution);
  const { key, problems } = resolution;
  const checks = [...CHECKS, use === "client-credentials" ? gatewayAccount : connectedAccount];
  for (const check of checks) {
    problems.push(...[...check(settings, entry)].map((mistake) => `${key}${mistake}.`));
  }
  return settings;
}

function resolve(entry: OAuthEntry, resolution: FieldResolution): OAuthSettings {
  const { clientId, clientSecret, privateKey } = entry;
  return {
    ...entry,
    ...(clientId !== undefined && { clientId: secretField("clientId", clientId, resolution) }),
    ...(clientSecret !== undefined && {
      clientSecret: secretField("clientSecret", clientSecret, resolution),
    }),
    ...(privateKey !== undefined && {
      clientAuth: entry.clientAuth ?? "private_key_jwt",
      // A file of secrets may hold one line for each, with line breaks written as `\n`.
      privateKey: secretField("privateKey", privateKey, resolution).replaceAll(
        String.raw`\n`,
        "\n",
      ),
    }),
    legacy: entry.legacy ?? false,
    catalog: entry.catalog ?? "user",
  };
}

/** @returns what follows the name of the table in a sentence, for each mistake. */
type Check = (settings: OAuthSettings, entry: OAuthEntry) => Iterable<string>;

const CHECKS: readonly Check[] = [
  addresses,
  boundClient,
  clientAuthentication,
  registrationWays,
  scopes,
  resource,
  authorizeParams,
];

const ADDRESSES = [
  "authorizationEndpoint",
  "tokenEndpoint",
  "revocationEndpoint",
  "clientMetadataUrl",
] as const;

function* addresses(settings: OAuthSettings): Iterable<string> {
  const { issuer } = settings;
  if (issuer !== undefined && issuerUrl(issuer) === undefined) {
    yield `.issuer must be an https URL without query, exactly as the authorization server's metadata spells it`;
  }
  for (const field of ADDRESSES) {
    const address = settings[field];
    if (address === undefined) continue;
    const url = secureUrl(address);
    if (url === undefined || url.hash !== "")
      yield `.${field} must be an https URL without a fragment`;
  }
}

/** A client is one of a certain issuer, and its secret goes to no other. */
function* boundClient({ clientId, issuer, clientSecret, privateKey }: OAuthSettings) {
  if (clientId !== undefined && issuer === undefined) {
    yield `.clientId needs an "issuer" beside it: the authorization server that has registered the client`;
  }
  if (clientId !== undefined) return;
  if (clientSecret !== undefined) yield `.clientSecret needs a "clientId" beside it`;
  if (privateKey !== undefined) yield `.privateKey needs a "clientId" beside it`;
}

const PEM = /^\s*-----BEGIN PRIVATE KEY-----[\sA-Za-z0-9+/=]+-----END PRIVATE KEY-----\s*$/;

function* clientAuthentication({ clientId, clientAuth, clientSecret, privateKey }: OAuthSettings) {
  const isByKey = clientAuth === "private_key_jwt";
  if (isByKey && privateKey === undefined) {
    yield `.clientAuth is "private_key_jwt", which needs a "privateKey"`;
  }
  if (!isByKey && privateKey !== undefined) {
    yield `.privateKey has no use with clientAuth = "${clientAuth}"; it belongs to "private_key_jwt"`;
  }
  const isBySecret = clientAuth?.startsWith("client_secret_") === true;
  if (isBySecret && clientId !== undefined && clientSecret === undefined) {
    yield `.clientAuth is "${clientAuth}", which needs a "clientSecret"`;
  }
  if (clientAuth !== undefined && !isBySecret && clientSecret !== undefined) {
    yield `.clientSecret has no use with clientAuth = "${clientAuth}"`;
  }
  // An empty key is a secret that is not set, which is a mistake of its own.
  if (privateKey !== undefined && privateKey !== "" && !PEM.test(privateKey)) {
    yield `.privateKey must be a PKCS #8 key in PEM, which begins with "-----BEGIN PRIVATE KEY-----"; "openssl pkcs8 -topk8 -nodes" makes one of another`;
  }
}

function* registrationWays({ clientId, clientMetadataUrl, registration }: OAuthSettings) {
  if (registration === undefined) return;
  if (clientId !== undefined && !registration.includes("preregistered")) {
    yield `.registration has no "preregistered" in it, so the "clientId" would never be used`;
  }
  if (clientId === undefined && registration.every((way) => way === "preregistered")) {
    yield `.registration allows only "preregistered", which needs a "clientId"`;
  }
  if (clientMetadataUrl !== undefined && !registration.includes("cimd")) {
    yield `.registration has no "cimd" in it, so the "clientMetadataUrl" would never be used`;
  }
}

function* scopes({ scopes, maxScopes }: OAuthSettings) {
  if (scopes === undefined || maxScopes === undefined) return;
  const beyond = scopes.filter((scope) => !maxScopes.includes(scope));
  if (beyond.length > 0) yield `.maxScopes does not contain ${quoted(beyond)} of "scopes"`;
}

/** RFC 8707 section 2. */
function* resource({ resource }: OAuthSettings) {
  if (resource === undefined || resource === false) return;
  if (!URL.canParse(resource) || resource.includes("#")) {
    yield `.resource must be an absolute URI without a fragment, or false to send none`;
  }
}

/** The gateway sets these itself, or relies on that they are not set, such as `response_mode`. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...["response_type", "response_mode", "client_id", "client_secret", "redirect_uri", "state"],
  ...["code_challenge", "code_challenge_method", "code_verifier", "grant_type", "nonce"],
  ...["request", "request_uri", "dpop_jkt", "scope", "resource"],
]);

/** The fields that say what a parameter would. */
const FIELDS: Readonly<Record<string, string>> = { scope: "scopes", resource: "resource" };

function* authorizeParams({ authorizeParams = {} }: OAuthSettings) {
  for (const name of Object.keys(authorizeParams)) {
    const known = name.toLowerCase();
    if (!OWN_PARAMETERS.has(known)) continue;
    const field = FIELDS[known];
    const instead = field === undefined ? "" : `; use "${field}" for it`;
    yield `.authorizeParams: "${name}" is the gateway's own to set${instead}`;
  }
}

/** Someone connects the account in a browser. */
function* connectedAccount(settings: OAuthSettings) {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId } = settings;
  const isStatic = authorizationEndpoint !== undefined && tokenEndpoint !== undefined;
  const given = authorizationEndpoint ?? tokenEndpoint ?? revocationEndpoint;
  if (given !== undefined && !isStatic) {
    yield ` needs both "authorizationEndpoint" and "tokenEndpoint", which replace the authorization server's metadata together`;
  } else if (isStatic && clientId === undefined) {
    yield ` has endpoints instead of metadata, so nothing says how to register; it needs a "clientId"`;
  }
}

/** What only an authorization in a browser needs. */
const BROWSER_FIELDS = [
  ...(["registration", "clientMetadataUrl", "authorizationEndpoint", "authorizeParams"] as const),
  ...(["revocationEndpoint", "scopeOnRefresh", "rotation", "pkce", "catalog", "help"] as const),
];

function* gatewayAccount(settings: OAuthSettings, entry: OAuthEntry) {
  const { clientId, clientSecret, privateKey } = settings;
  if (clientId === undefined) {
    yield ` needs a "clientId" with auth = "client-credentials": the gateway's own account at the authorization server`;
  } else if (clientSecret === undefined && privateKey === undefined) {
    yield ` needs a "clientSecret" or a "privateKey" with auth = "client-credentials"`;
  }
  const useless = BROWSER_FIELDS.filter((field) => entry[field] !== undefined);
  if (useless.length > 0) {
    yield ` has ${quoted(useless)} in it, which mean nothing with auth = "client-credentials"`;
  }
}
