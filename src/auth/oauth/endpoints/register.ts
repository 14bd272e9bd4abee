/**
 * Dynamic client registration (RFC 7591). Anyone may register, so a registration is small, is
 * deleted within a day unless a token is issued to it, and the rate allows only as many as people
 * need to connect applications. Their total number has no bound: a client that fills it would shut
 * out all others.
 */

import { tryJson } from "../../../lib/try-json.ts";
import { logLimitReached } from "../../../observability/gateway-log.ts";
import type { Limits } from "../../../policy/limits.ts";
import { isObject, type JsonObject } from "../../../protocol/json-rpc.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import { GRANT_TYPES, isLink, isListOfStrings } from "../../clients/client-metadata.ts";
import { isKnownRedirect, judgeRedirectUris, redirectKind } from "../../clients/redirect-uris.ts";
import type { AuthStore } from "../../context/auth-store.ts";
import { addressOf, type AuthContext } from "../../context/context.ts";
import { ADMIN, USE } from "../../scopes.ts";
import { type Check, firstFinding } from "./check.ts";
import {
  asOurs,
  oauthError,
  oauthJson,
  orUnavailable,
  readOAuthBody,
  tooManyRequests,
} from "./oauth-http.ts";

/** RFC 7591 section 2; the errors are those of section 3.2.2. */
const METADATA: readonly Check<JsonObject, MetadataError>[] = [
  limitRedirectUris,
  checkRedirectUris, // RFC 6749 section 3.1.2
  limitTexts,
];

export function register(context: AuthContext, request: Request): Promise<Response> {
  return orUnavailable(() => answerOf(context, request));
}

async function answerOf(context: AuthContext, request: Request): Promise<Response> {
  const { store, limits, trace } = context;
  const body = await readOAuthBody(request, "application/json");
  if (body instanceof Response) return body;
  const key = `register:${addressOf(request)}`;
  const wait = await store.ephemeral(key).limits.take(key, limits.registrationsPerMinute);
  if (wait > 0) {
    trace({ kind: "registration_refused", error: "limited" });
    return tooManyRequests("Too many registrations from this address", wait);
  }
  const sent = tryJson(body);
  const reading = readClientMetadata(sent);
  if ("error" in reading) {
    const { error, description } = reading;
    trace({ kind: "registration_refused", error, ...urisIn(sent) });
    return oauthError(error, description);
  }
  const { redirectUris } = reading;
  const limited = redirectUris.every(isExpected) ? undefined : await limitOfDay(context, key);
  if (limited !== undefined) {
    trace({ kind: "registration_refused", error: "limited", redirectUris });
    return tooManyRequests(limited, HOUR_SECONDS);
  }
  return create(context, reading);
}

interface ClientMetadata {
  readonly redirectUris: readonly string[];
  /** The metadata for the library: reduced to what this server uses. */
  readonly metadata: JsonObject;
  /** The scope that the client may request, for the response. */
  readonly scope: string;
}

interface MetadataError {
  readonly error: "invalid_redirect_uri" | "invalid_client_metadata";
  readonly description: string;
}

const LINKS = ["client_uri", "logo_uri", "tos_uri", "policy_uri"];
const METHODS = ["token_endpoint_auth_method", "token_endpoint_auth_methods_supported"];

/**
 * Unsupported values are left out where the client can do without them, because clients send one
 * registration request to every authorization server.
 */
function readClientMetadata(sent: unknown): ClientMetadata | MetadataError {
  if (!isObject(sent)) return badMetadata("The metadata must be a JSON object");
  const problem = firstFinding(METADATA, sent);
  if (problem !== undefined) return problem;
  const { client_name: name, grant_types: grants, response_types: responses, scope } = sent;
  const { redirectUris = [] } = urisIn(sent);
  return {
    redirectUris,
    scope: readScope(scope),
    metadata: {
      redirect_uris: redirectUris,
      ...(typeof name === "string" && name.trim() !== "" && { client_name: name }),
      ...pick(sent, LINKS, isShortLink),
      ...pick(sent, METHODS, (method) => method !== null),
      grant_types: usable(grants, GRANT_TYPES),
      response_types: usable(responses, ["code"]),
    },
  };
}

function pick(
  sent: JsonObject,
  names: readonly string[],
  isUsed: (value: unknown) => boolean,
): JsonObject {
  return Object.fromEntries(
    names.map((name) => [name, sent[name]]).filter(([, value]) => isUsed(value)),
  );
}

const MAX_REDIRECT_URIS = 10;
const MAX_CHARS = 256;
const MAX_URI_CHARS = 2048;

function limitRedirectUris({ redirect_uris: uris }: JsonObject): MetadataError | undefined {
  if (isListOfStrings(uris) && uris.length <= MAX_REDIRECT_URIS) return undefined;
  const description = `redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} addresses`;
  return { error: "invalid_redirect_uri", description };
}

function checkRedirectUris(sent: JsonObject): MetadataError | undefined {
  if (judgeRedirectUris(urisIn(sent).redirectUris ?? []) === undefined) return undefined;
  const description =
    "redirect_uris must have an https address or an http address of a loopback host, and nothing else that a browser would run or that is unclear to read";
  return { error: "invalid_redirect_uri", description };
}

function limitTexts({ client_name: name, contacts }: JsonObject): MetadataError | undefined {
  const listed = contacts ?? [];
  if (isListOfStrings(listed) && [name ?? "", ...listed].every(isShort)) return undefined;
  return badMetadata(`client_name and contacts are texts of up to ${MAX_CHARS} characters`);
}

function isShort(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_CHARS;
}

function isShortLink(value: unknown): boolean {
  return isLink(value, ["https:", "http:"]) && String(value).length <= MAX_URI_CHARS;
}

function badMetadata(description: string): MetadataError {
  return { error: "invalid_client_metadata", description };
}

/** @returns the texts among the redirect URIs, of metadata that may not have been checked yet. */
function urisIn(sent: unknown): { readonly redirectUris?: readonly string[] } {
  const { redirect_uris: uris } = isObject(sent) ? sent : {};
  return Array.isArray(uris) ? { redirectUris: uris.filter((uri) => typeof uri === "string") } : {};
}

/**
 * Some clients request the scopes of this response, and without any those of OpenID Connect. The
 * response must not reveal which upstreams exist, so anything that could be a scope of one is
 * repeated.
 */
function readScope(scope: unknown): string {
  const asked = typeof scope === "string" && scope.length <= MAX_CHARS ? scope.split(" ") : [];
  const known = asked.filter(
    (one) => one === USE || one === ADMIN || /^mcp:[a-z0-9-]{1,24}$/.test(one),
  );
  return known.length > 0 ? [...new Set(known)].join(" ") : USE;
}

/**
 * A list that includes the code flow comes from a client of many servers, so the rest of the list
 * is left out. A list without it comes from a client of another protocol, and the library refuses
 * it.
 *
 * @param served the values that this server supports, the code flow first.
 */
function usable(listed: unknown, served: readonly string[]): unknown {
  if (listed === undefined || listed === null) return served;
  if (!Array.isArray(listed) || !listed.includes(served[0])) return listed;
  return served.filter((one) => listed.includes(one));
}

/** The one key under which all registrations of a day are counted. */
const EVERYBODY = "register";
const HOUR_SECONDS = 3600;

/** Redirects that are accepted on a busy day as well. */
function isExpected(redirectUri: string): boolean {
  return isKnownRedirect(redirectUri) || redirectKind(redirectUri) === "unused";
}

/** The address first: a request over the share of its address uses nothing of the common limit. */
async function limitOfDay(
  { store, limits }: AuthContext,
  ofAddress: string,
): Promise<string | undefined> {
  const { registrationsPerDay, registrationsPerAddressPerDay } = limits;
  const own = await store.ephemeral(ofAddress).limits.countOfDay(ofAddress);
  if (own > registrationsPerAddressPerDay) {
    return "Too many registrations from this address today";
  }
  const all = await store.ephemeral(EVERYBODY).limits.countOfDay(EVERYBODY);
  if (all <= registrationsPerDay) return undefined;
  if (all === registrationsPerDay + 1) logLimitReached("registrationsPerDay", registrationsPerDay);
  return "Only local and well-known applications can register today";
}

async function create(
  { authority, engine, origin, trace }: AuthContext,
  { metadata, redirectUris, scope }: ClientMetadata,
): Promise<Response> {
  const answer = await authority.fetch(
    new Request(`${origin}/register`, { method: "POST", body: JSON.stringify(metadata) }),
    engine,
  );
  if (answer.status !== 201) {
    trace({ kind: "registration_refused", error: "invalid_client_metadata", redirectUris });
    return asOurs(answer);
  }
  const client = await answer.json<RegisteredClient>();
  const { client_id: id, client_name: name } = client;
  trace({ kind: "registered", client: id, redirectUris, name });
  // The secret lasts as long as the registration, which lasts as long as it is used.
  const secret = "client_secret" in client ? { client_secret_expires_at: 0 } : {};
  return oauthJson({ ...client, ...secret, scope }, { status: 201 });
}

/** The members of the library's response that are read here (RFC 7591 section 3.2.1). */
interface RegisteredClient extends JsonObject {
  readonly client_id: string;
  readonly client_name: string | undefined;
}

const DAY_SECONDS = 86_400;

/**
 * Extends the registration of a client that got a token, once a day at most, for as long as its
 * grants can be refreshed. An authorization server that forgets the client of a live grant signs its
 * users out, and many applications never register again.
 */
export async function keepRegistration(
  store: Pick<AuthStore, "ofClient">,
  clientId: string,
  { registrationDays, refreshIdleDays }: Pick<Limits, "registrationDays" | "refreshIdleDays">,
): Promise<void> {
  // A client with a document has no registration.
  if (isDocumentUrl(clientId)) return;
  const days = Math.max(registrationDays, refreshIdleDays + 1);
  const expiresAt = Math.floor(Date.now() / 1000) + days * DAY_SECONDS;
  await store
    .ofClient(clientId)
    .rows.extend(`client:${clientId}`, expiresAt, expiresAt - DAY_SECONDS);
}
