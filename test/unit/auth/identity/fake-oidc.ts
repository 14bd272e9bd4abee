/** An OpenID provider as a function: it answers as a real one does, until a test has it do worse. */

import {
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";

import type { ProviderFetch } from "../../../../src/auth/identity/provider-fetch.ts";
import { OidcProvider } from "../../../../src/auth/identity/oidc.ts";
import {
  type OidcConfig,
  type OidcTraits,
  STANDARD,
} from "../../../../src/auth/identity/oidc-traits.ts";
import type { Departure, SignInResult } from "../../../../src/auth/identity/provider.ts";
import { ProviderDocuments } from "../../../../src/auth/identity/provider-documents.ts";
import { NO_ONE_ALLOWED } from "../../../../src/auth/identity/allow-list.ts";

export const ISSUER = "https://id.example.com/realms/x";
export const CLIENT_ID = "edgeway";
export const CALLBACK = "https://mcp.example.com/callback/oidc";
export const STATE = "state-of-the-sign-in";
const KID = "key-1";

export interface SeenRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

const pair = await generateKeyPair("RS256", { extractable: true });
const otherPair = await generateKeyPair("RS256", { extractable: true });
export const PUBLIC_JWK = {
  ...(await exportJWK(pair.publicKey)),
  kid: KID,
  alg: "RS256",
  use: "sig",
};

export const now = (): number => Math.floor(Date.now() / 1000);

export function signed(
  claims: JWTPayload,
  header: Partial<JWTHeaderParameters> = {},
  foreign = false,
) {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: KID, ...header })
    .sign(foreign ? otherPair.privateKey : pair.privateKey);
}

export class FakeOidc {
  readonly seen: SeenRequest[] = [];
  issuer = ISSUER;
  metadata: Record<string, unknown> = {};
  /** Beside the usual ones; `undefined` leaves one out. */
  claims: Record<string, unknown> = {};
  /** In place of a token signed as usual. */
  idToken: ((claims: JWTPayload) => Promise<string>) | undefined = signed;
  tokens: Record<string, unknown> = { refresh_token: "refresh-1" };
  userinfo: Record<string, unknown> | undefined;
  /** In place of everything that this path would answer. */
  readonly answers = new Map<string, () => Response | Promise<Response>>();
  nonce: string | undefined;

  readonly fetch: ProviderFetch = async (url, init) => {
    const body = init.body instanceof URLSearchParams ? init.body.toString() : "";
    const path = url.href.replace(this.issuer, "").replace(/^https:\/\/[^/]+/, "");
    this.seen.push({ path, headers: new Headers(init.headers), form: new URLSearchParams(body) });
    const answer = this.answers.get(path);
    if (answer !== undefined) return answer();
    switch (path) {
      case "/.well-known/openid-configuration":
        return Response.json(this.#metadata());
      case "/token":
        return Response.json(await this.#tokens());
      case "/jwks":
        return Response.json({ keys: [PUBLIC_JWK] });
      case "/userinfo":
        return Response.json({ sub: "ann", ...this.userinfo });
      default:
        return new Response("", { status: 404 });
    }
  };

  count(path: string): number {
    return this.seen.filter((request) => request.path === path).length;
  }

  idTokenClaims(): JWTPayload {
    const usual = {
      iss: this.issuer,
      sub: "ann",
      aud: CLIENT_ID,
      iat: now(),
      exp: now() + 300,
      nonce: this.nonce,
      name: "Ann",
      email: "ann@example.com",
      email_verified: true,
    };
    const claims = Object.entries({ ...usual, ...this.claims });
    return Object.fromEntries(claims.filter(([, value]) => value !== undefined));
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
      ...this.metadata,
    };
  }

  async #tokens(): Promise<Record<string, unknown>> {
    const idToken = await this.idToken?.(this.idTokenClaims());
    return {
      access_token: "access-1",
      token_type: "Bearer",
      expires_in: 3600,
      ...(idToken !== undefined && { id_token: idToken }),
      ...this.tokens,
    };
  }
}

const CONFIG: OidcConfig = {
  name: "oidc",
  label: "Continue with single sign-on",
  issuers: [ISSUER],
  clientId: CLIENT_ID,
  clientSecret: "s3cret-of-the-client",
  scopes: [],
  groupsClaim: "groups",
  formActions: [],
  allow: { ...NO_ONE_ALLOWED, emails: ["ann@example.com"] },
  admins: [],
};

export function providerAt(
  fake: FakeOidc,
  config: { [Key in keyof OidcConfig]?: OidcConfig[Key] | undefined } = {},
  traits: OidcTraits = STANDARD,
): OidcProvider {
  const deps = { fetch: fake.fetch, documents: new ProviderDocuments() };
  return new OidcProvider({ ...CONFIG, ...config } as OidcConfig, deps, traits);
}

export async function depart(provider: OidcProvider, fresh = false): Promise<Departure> {
  const departure = await provider.begin({ state: STATE, callback: CALLBACK, fresh });
  if (departure.kind === "refused") throw new Error(departure.detail);
  return departure;
}

/** A whole sign-in; the answer in the browser's address may be another than the usual. */
export async function signIn(
  fake: FakeOidc,
  provider: OidcProvider,
  { answer = {}, fresh = false }: { answer?: Record<string, string>; fresh?: boolean } = {},
): Promise<SignInResult> {
  const { location, memory } = await depart(provider, fresh);
  fake.nonce = new URL(location).searchParams.get("nonce") ?? undefined;
  const url = new URL(CALLBACK);
  url.search = new URLSearchParams({ code: "code-1", state: STATE, ...answer }).toString();
  return provider.finish({ url, state: STATE, callback: CALLBACK, memory });
}

export function reasonOf(result: SignInResult | Departure): string {
  return result.kind === "refused" ? result.reason : result.kind;
}
