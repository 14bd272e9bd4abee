/**
 * Dynamic client registration (RFC 7591). Anyone may register, so a registration is small, is
 * deleted within a day unless a token is issued to it, and the rate allows only as many as people
 * need to connect applications. Their total number has no bound: a client that fills it would shut
 * out all others.
 */

import { logLimitReached } from "../../../observability/limit-reached.ts";
import { tryJson } from "../../../lib/try-json.ts";
import { isObject, type JsonObject } from "../../../protocol/json-rpc.ts";
import { addressOf, type AuthContext } from "../../context/context.ts";
import { readClientMetadata } from "./client-metadata.ts";
import { isKnownRedirect } from "../../clients/known-hosts.ts";
import { readOAuthBody } from "./oauth-body.ts";
import { asOurs, oauthError, oauthJson, tooManyRequests } from "./oauth-error.ts";
import { redirectKind } from "../../clients/redirect-uris.ts";

/** The one key under which all registrations of a day are counted. */
const EVERYBODY = "register";
const HOUR_SECONDS = 3600;

export async function register(context: AuthContext, request: Request): Promise<Response> {
  const { store, limits, trace } = context;
  const body = await readOAuthBody(request, "application/json");
  if (!body.ok) return body.response;
  const key = `register:${addressOf(request)}`;
  const wait = await store.ephemeral(key).limits.take(key, limits.registrationsPerMinute);
  if (wait > 0) {
    trace({ kind: "registration_refused", error: "limited" });
    return tooManyRequests("Too many registrations from this address", wait);
  }
  const value = tryJson(body.text);
  const reading = readClientMetadata(value);
  if (reading.kind === "refused") {
    const { error, description } = reading;
    trace({ kind: "registration_refused", error, ...urisIn(value) });
    return oauthError(error, description);
  }
  const { redirectUris, scope } = reading;
  const limited = redirectUris.every(isExpected) ? undefined : await limitOfDay(context, key);
  if (limited !== undefined) {
    trace({ kind: "registration_refused", error: "limited", redirectUris });
    return tooManyRequests(limited, HOUR_SECONDS);
  }
  return create(context, reading.metadata, { redirectUris, scope });
}

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
  metadata: JsonObject,
  { redirectUris, scope }: { readonly redirectUris: readonly string[]; readonly scope: string },
): Promise<Response> {
  const answer = await authority.fetch(
    new Request(`${origin}/register`, { method: "POST", body: JSON.stringify(metadata) }),
    engine,
  );
  if (answer.status !== 201) {
    trace({ kind: "registration_refused", error: "invalid_client_metadata", redirectUris });
    return asOurs(answer);
  }
  const client = await answer.json<JsonObject>();
  const name = client["client_name"];
  trace({
    ...{ kind: "registered", client: String(client["client_id"]), redirectUris },
    name: typeof name === "string" ? name : undefined,
  });
  // The secret lasts as long as the registration, which lasts as long as it is used.
  const secret = "client_secret" in client ? { client_secret_expires_at: 0 } : {};
  return oauthJson({ ...client, ...secret, scope }, { status: 201 });
}

function urisIn(value: unknown): { readonly redirectUris?: readonly string[] } {
  const uris = isObject(value) ? value["redirect_uris"] : undefined;
  return Array.isArray(uris) ? { redirectUris: uris.map(String) } : {};
}
