/** `A`, the authorization server of a vendor: its metadata, registration, approval, tokens and revocation. */

import type { ServerResponse } from "node:http";

import type { Json } from "../scripted-upstream-script.ts";
import { type Answer, type Desk, type Received } from "./answering.ts";
import { clientOf } from "./client-of.ts";
import { Grants, type Issued, newSecret, Refused } from "./grants.ts";
import { approvalPage } from "./page.ts";
import type { Place, VendorClient, VendorUser } from "./script.ts";

const GRANT_PLACES: Readonly<Record<string, Place>> = {
  authorization_code: "exchange",
  refresh_token: "refresh",
  client_credentials: "client-credentials",
};

export class Authority {
  readonly origin: string;
  readonly grants = new Grants();
  readonly #desk: Desk;

  constructor(origin: string, desk: Desk) {
    this.origin = origin;
    this.#desk = desk;
  }

  get issuer(): string {
    return issuerAt(this.origin, this.#desk);
  }

  async serve(received: Received, response: ServerResponse): Promise<void> {
    const place = this.#placeOf(received);
    const hit = this.#desk.note(place, received);
    await this.#desk.meet(hit, response, async () => {
      try {
        return await this.#act(place, received);
      } catch (error) {
        if (error instanceof Refused) return this.#refusal(error);
        throw error;
      }
    });
  }

  #placeOf({ url: { pathname }, parameters }: Received): Place {
    if (this.#metadataPaths().includes(pathname)) return "metadata";
    switch (pathname) {
      case "/register":
      case "/authorize":
      case "/revoke":
        return pathname.slice(1) as Place;
      case "/token":
        return GRANT_PLACES[parameters.get("grant_type") ?? ""] ?? "elsewhere";
      default:
        return "elsewhere";
    }
  }

  #metadataPaths(): readonly string[] {
    const { issuerPath = "", metadataAt = ["oauth"] } = this.#desk.script;
    const paths = {
      oauth: `/.well-known/oauth-authorization-server${issuerPath}`,
      "openid-inserted": `/.well-known/openid-configuration${issuerPath}`,
      "openid-appended": `${issuerPath}/.well-known/openid-configuration`,
    };
    return metadataAt.map((name) => paths[name]);
  }

  #act(place: Place, received: Received): Answer | Promise<Answer> {
    switch (place) {
      case "metadata":
        return { status: 200, json: this.#metadata() };
      case "register":
        return this.#register(received);
      case "authorize":
        return this.#authorize(received);
      case "exchange":
      case "refresh":
      case "client-credentials":
        return this.#token(place, received);
      case "revoke":
        return this.#revoke(received);
      default:
        return { status: 404, text: "There is nothing here" };
    }
  }

  #metadata(): Json {
    const { registers = true, takesDocuments = false, namesItself = true } = this.#desk.script;
    const { metadataAt = [] } = this.#desk.script;
    const { origin } = this;
    // OpenID Connect Discovery section 3 demands these.
    const openid = {
      jwks_uri: `${origin}/jwks`,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
    return {
      issuer: this.issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      ...(registers && { registration_endpoint: `${origin}/register` }),
      ...(takesDocuments && { client_id_metadata_document_supported: true }),
      ...(namesItself && { authorization_response_iss_parameter_supported: true }),
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: [
        ...["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
      ],
      token_endpoint_auth_signing_alg_values_supported: ["ES256"],
      ...(metadataAt.some((name) => name !== "oauth") && openid),
    };
  }

  #register({ body = {} }: Received): Answer {
    const { registers = true, registersAs } = this.#desk.script;
    if (!registers) return { status: 404, text: "There is nothing here" };
    const asked = (body["token_endpoint_auth_method"] as string | undefined) ?? "none";
    const method = registersAs ?? asked;
    const clientId = `client-${newSecret()}`;
    const clientSecret = method === "none" ? undefined : newSecret();
    this.grants.clients.set(clientId, {
      ...{ clientId, method, redirectUris: body["redirect_uris"] as string[] },
      ...(clientSecret !== undefined && { clientSecret }),
    });
    const secret = { client_secret: clientSecret, client_secret_expires_at: 0 };
    return {
      status: 201,
      json: {
        ...{ ...body, client_id: clientId, token_endpoint_auth_method: method },
        ...(clientSecret !== undefined && secret),
      },
    };
  }

  /** RFC 6749 section 4.1.1: a wrong client or redirect URI is said to the person, and to nobody else. */
  #authorize({ parameters: asked, request }: Received): Answer {
    const client = this.#client(asked.get("client_id") ?? "");
    const redirectUri = asked.get("redirect_uri") ?? "";
    if (client === undefined) return { status: 400, text: "This application is unknown" };
    if (client.redirectUris?.includes(redirectUri) === false) {
      return { status: 400, text: "This application may not be returned to there" };
    }
    const { signedIn = "alice", namesItself = true, resource = "taken" } = this.#desk.script;
    const state = asked.get("state");
    const answerOf = (query: Json): Answer => ({
      status: 302,
      redirect: {
        to: redirectUri,
        query: {
          ...{ ...query, ...(state !== null && { state }) },
          ...(namesItself && { iss: this.issuer }),
        },
      },
    });
    const challenge = asked.get("code_challenge") ?? "";
    const isProven = challenge !== "" && asked.get("code_challenge_method") === "S256";
    if (asked.get("response_type") !== "code" || !isProven) {
      return answerOf({ error: "invalid_request" });
    }
    if (resource === "refused" && asked.has("resource") && asked.has("scope")) {
      return answerOf({ error: "invalid_request", error_description: "AADSTS901002" });
    }
    const user = signedIn === "page" ? asked.get("user") : signedIn;
    if (user === null) return approvalPage(client.clientId, asked, request.method ?? "");
    if (user === "nobody") return answerOf({ error: "access_denied" });
    const isKnown = this.grants.hasHadCode(client.clientId, user as VendorUser);
    const isConsent = !isKnown || asked.get("prompt") === "consent";
    const code = this.grants.code({
      ...{ user: user as VendorUser, clientId: client.clientId, redirectUri, challenge },
      scopes: this.#granted(asked.get("scope")),
      resource: asked.get("resource") ?? undefined,
      isOffline: asked.get("access_type") === "offline" && isConsent,
    });
    return answerOf({ code });
  }

  #granted(scope: string | null): readonly string[] {
    const asked = (scope ?? "").split(" ").filter((one) => one !== "");
    const { grants } = this.#desk.script;
    return grants === undefined ? asked : asked.filter((one) => grants.includes(one));
  }

  async #token(place: Place, received: Received): Promise<Answer> {
    const { script } = this.#desk;
    const { parameters } = received;
    const { clientId } = await clientOf(received, (id) => this.#client(id), {
      issuer: this.issuer,
      decodesBasic: script.decodesBasic ?? true,
    });
    const resource = parameters.get("resource") ?? undefined;
    if (script.resource === "refused" && resource !== undefined) {
      throw new Refused("invalid_request", "AADSTS901002");
    }
    if (place === "client-credentials") {
      const scopes = this.#granted(parameters.get("scope"));
      return this.#issued(this.grants.forClient(clientId, scopes, resource, script), received);
    }
    if (place === "exchange") {
      return this.#issued(this.grants.exchange(clientId, parameters, script), received);
    }
    if (script.wantsScopeOnRefresh === true && !parameters.has("scope")) {
      throw new Refused("invalid_request", "AADSTS90009");
    }
    return this.#issued(this.grants.refresh(clientId, parameters, script), received);
  }

  #issued({ access, refresh, scopes }: Issued, { request }: Received): Answer {
    const { expiresIn = 3600, answersForms = false } = this.#desk.script;
    return {
      status: 200,
      isForm: answersForms && request.headers.accept?.includes("application/json") !== true,
      json: {
        ...{ access_token: access, token_type: "Bearer" },
        ...(expiresIn !== null && { expires_in: expiresIn }),
        ...(refresh !== undefined && { refresh_token: refresh }),
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      },
    };
  }

  async #revoke(received: Received): Promise<Answer> {
    await clientOf(received, (id) => this.#client(id), {
      issuer: this.issuer,
      decodesBasic: this.#desk.script.decodesBasic ?? true,
    });
    this.grants.revokeToken(received.parameters.get("token") ?? "");
    return { status: 200 };
  }

  #client(id: string): VendorClient | undefined {
    const { clients = [], takesDocuments = false } = this.#desk.script;
    const known = clients.find(({ clientId }) => clientId === id) ?? this.grants.clients.get(id);
    const isDocument = takesDocuments && URL.canParse(id) && new URL(id).pathname !== "/";
    return known ?? (isDocument ? { clientId: id } : undefined);
  }

  #refusal({ code, message, status }: Refused): Answer {
    const headers = { "WWW-Authenticate": 'Basic realm="vendor"' };
    const isOk = this.#desk.script.errorsAreOk === true;
    return {
      status: isOk ? 200 : status,
      ...(status === 401 && !isOk && { headers }),
      json: { error: code, error_description: message },
    };
  }
}

export function issuerAt(origin: string, { script }: Pick<Desk, "script">): string {
  return `${origin}${script.issuerPath ?? ""}`;
}
