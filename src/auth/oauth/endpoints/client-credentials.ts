/**
 * Tokens for programs that act in their own name (RFC 6749 section 4.4, and the MCP extension
 * `io.modelcontextprotocol/oauth-client-credentials`). An administrator creates each of them; a
 * client that registers never becomes one.
 */

import type { AuthContext } from "../../context/context.ts";
import { canonicalResource } from "../../resources.ts";
import { covers } from "../../scopes.ts";
import { type AuthStore, isAdministrator } from "../../context/auth-store.ts";
import type { ServiceClient } from "../../store/service-clients.ts";
import type { TokenAnswer } from "../grants/grant-token-endpoint.ts";
import { basicCredentials, type TokenRequest } from "../grants/token-request.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import { SIGNING_ALGORITHMS } from "../../clients/document-keys.ts";
import { checkAssertion, hasAssertion, refuse } from "./document-client.ts";
import { invalidClient, oauthError, oauthJson, tooManyRequests } from "./oauth-http.ts";

/** The longest lifetime, however long other tokens last: no user could be asked again. */
const MAX_SECONDS = 3600;
const FAILED = "Client authentication failed";

/** The token requests of service clients, which the library does not know. */
export async function tokenOfService(
  context: AuthContext,
  request: TokenRequest,
): Promise<TokenAnswer> {
  // RFC 6749 section 4.4.2 and RFC 7009 section 2.1: the client MUST authenticate.
  const client = await authenticate(context, request);
  if (client === undefined) return refuse(invalidClient(FAILED, request));
  if (request.isRevocation) return { response: await revoke(context, request, client) };
  if (request.grantType === "client_credentials") return issue(context, request, client);
  return refuse(oauthError("unauthorized_client", "The client may use client_credentials alone"));
}

/**
 * RFC 7009 section 2.2: a token that does not exist, or is another client's, is no error, and the
 * response does not reveal which.
 */
async function revoke(
  { store }: AuthContext,
  { credential }: TokenRequest,
  { id, label }: ServiceClient,
): Promise<Response> {
  const shard = store.ofUser(id);
  const key = await shard.keys.check(credential);
  if (key?.owner === id && (await shard.endKey(id, key.id))) {
    await shard.audit.append(id, "token_revoked", { label });
  }
  return new Response(null);
}

async function issue(
  context: AuthContext,
  request: TokenRequest,
  client: ServiceClient,
): Promise<TokenAnswer> {
  if (!(await isServiceServed(context.store, client))) {
    return refuse(invalidClient(FAILED, request));
  }
  const resource = chooseResource(context, request, client);
  if (resource === undefined) {
    return refuse(oauthError("invalid_target", "The resource is none that this client may use"));
  }
  const scopes = chooseScopes(request, client, resource.scopes);
  if (scopes === undefined) {
    return refuse(oauthError("invalid_scope", "The scope is more than this client may have"));
  }
  const { id, label, maker } = client;
  const { accessTokenMinutes, serviceTokensPerMinute } = context.limits;
  const seconds = Math.min(accessTokenMinutes * 60, MAX_SECONDS);
  const shard = context.store.ofUser(id);
  const wait = await shard.limits.take(`service:${id}`, serviceTokensPerMinute);
  if (wait > 0) {
    const description = "Too many tokens were asked for; use one for longer";
    return refuse(tooManyRequests(description, wait), "limited");
  }
  const [{ token, key }] = await Promise.all([
    shard.keys.create({
      kind: "cc",
      owner: id,
      label,
      scopes,
      resources: [resource.id],
      ...(maker !== undefined && { maker }),
      expiresAt: Date.now() + seconds * 1000,
    }),
    shard.audit.append(id, "service_token_issued", { label, resource: resource.id }),
  ]);
  // An operator may have deleted the client meanwhile; its key did not exist yet to be ended.
  const still = await context.store.ofClient(id).services.find(id);
  if (still === undefined || !(await isServiceServed(context.store, still))) {
    await shard.endKey(id, key.id);
    return refuse(invalidClient(FAILED, request));
  }
  const response = oauthJson({
    access_token: token,
    token_type: "bearer",
    scope: key.scopes.join(" "),
    expires_in: seconds,
    resource: resource.id,
  });
  return { response };
}

/** A service client ends with the right that its maker had (`ServiceClient.maker`). */
export async function isServiceServed(
  store: Pick<AuthStore, "ofUser">,
  { isDisabled, maker }: ServiceClient,
): Promise<boolean> {
  return !isDisabled && maker !== undefined && (await isAdministrator(store, maker));
}

/**
 * The answer to `client_credentials` of any other client, which must authenticate first (RFC 6749
 * section 5.2).
 */
export async function refuseClientCredentials(
  context: AuthContext,
  request: TokenRequest,
): Promise<Response> {
  // The document of a client would have to be loaded, and would change nothing.
  if (!isDocumentUrl(request.clientId)) {
    const { authority, engine, origin } = context;
    const answer = await authority.fetch(request.toHttp(origin), engine);
    if (answer.status === 401) return answer;
  }
  return oauthError("unauthorized_client", "The client may not use this grant type");
}

async function authenticate(
  context: AuthContext,
  request: TokenRequest,
): Promise<ServiceClient | undefined> {
  const { clientId, params, authorization } = request;
  const { services } = context.store.ofClient(clientId);
  const secrets = [basicCredentials(authorization)?.secret, params.get("client_secret")];
  const [secret, ...more] = secrets.filter((one) => typeof one === "string");
  // RFC 6749 section 2.3: MUST NOT use more than one method.
  if (more.length > 0 || (secret !== undefined && hasAssertion(request))) return undefined;
  if (secret !== undefined) return services.withSecret(clientId, secret);
  if (authorization !== null) return undefined;
  const client = await services.find(clientId);
  if (client?.jwks === undefined || client.isDisabled) return undefined;
  const keys = { jwks: client.jwks, algorithms: SIGNING_ALGORITHMS };
  return (await checkAssertion(context, request, keys)) === "authentic" ? client : undefined;
}

/**
 * RFC 8707 section 2: one of the resources that the client was created for; the first by default.
 */
function chooseResource(
  { authority, origin }: AuthContext,
  { params }: TokenRequest,
  client: ServiceClient,
): AuthContext["authority"]["resources"][number] | undefined {
  const [asked = client.resources[0], ...more] = params.getAll("resource");
  if (asked === undefined || more.length > 0) return undefined;
  const id = canonicalResource(origin, asked, authority.isPublishingOn);
  if (!client.resources.includes(id)) return undefined;
  return authority.resources.find((resource) => resource.id === id);
}

/**
 * RFC 6749 section 3.3. A program that asks for more than it may have is misconfigured, and no
 * person is there to see that it got less.
 *
 * @param offered the scopes of the resource.
 */
function chooseScopes(
  { params }: TokenRequest,
  { scopes: own }: ServiceClient,
  offered: readonly string[],
): readonly string[] | undefined {
  const asked = params.get("scope")?.split(" ").filter(Boolean) ?? [];
  const mayHave = offered.filter((scope) => covers(own, scope));
  if (!asked.every((scope) => mayHave.includes(scope))) return undefined;
  const scopes =
    asked.length > 0 ? [...new Set(asked)] : mayHave.filter((one) => own.includes(one));
  // A scope that covers everything also covers this resource, under the name that it has here.
  const chosen = scopes.length > 0 ? scopes : mayHave.slice(0, 1);
  return chosen.length > 0 ? chosen : undefined;
}
