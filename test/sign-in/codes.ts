/** Authorization codes as after sign-in and consent, and what becomes of them. */

import { isDocumentUrl } from "../../src/auth/clients/client-id-url.ts";
import {
  newPkce,
  PUBLIC_CLIENT,
  REDIRECT_URI,
  register,
  type RegisteredClient,
  requestToken,
  type Tokens,
  tokensIn,
} from "../support/oauth-requests.ts";
import { fromElsewhere } from "./context.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";
import { type Person, records } from "./people.ts";

export type Form = Readonly<Record<string, string | undefined>>;

/** A token request from an address for which no failure was counted. */
export function ask(form: Form, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return requestToken(gateway, form, { ...fromElsewhere(), ...headers });
}

/** Credentials of a client in the header (RFC 6749 section 2.3.1). */
export function basic(id: string, secret = ""): { readonly Authorization: string } {
  return { Authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${secret}`)}` };
}

export async function newClient(
  metadata: Readonly<Record<string, unknown>> = PUBLIC_CLIENT,
): Promise<RegisteredClient> {
  const { send, origin } = gateway;
  const asSomebody = (url: string, sent?: RequestInit): Promise<Response> =>
    send(url, { ...sent, headers: { ...fromElsewhere(), "Content-Type": "application/json" } });
  return register({ origin, send: asSomebody }, metadata);
}

export interface Code {
  readonly person: Person;
  readonly client: string;
  readonly grant: string;
  readonly code: string;
  readonly verifier: string;
  /** The parameters that redeem it. */
  readonly form: Form;
}

export interface CodeOptions {
  readonly person?: Person;
  readonly client?: string;
  readonly path?: string;
  readonly scopes?: readonly string[];
  readonly redirectUri?: string;
}

/** A code of a new user and a new public client, unless there are others. */
export async function newCode(options: CodeOptions = {}): Promise<Code> {
  const person = options.person ?? (await newOwner());
  const client = options.client ?? (await newClient()).client_id;
  const { path = "/mcp", scopes = ["mcp"], redirectUri = REDIRECT_URI } = options;
  const { authorities, engine, store } = records();
  // As it was when the person was asked.
  if (isDocumentUrl(client)) await store.ofDocument(client).documents.load(client);
  const { verifier, challenge } = await newPkce();
  const { redirectTo } = await authorities
    .at(ORIGIN)
    .helpers(engine)
    .completeAuthorization({
      request: {
        ...{ responseType: "code", clientId: client, redirectUri, state: "s", scope: [...scopes] },
        ...{ codeChallenge: challenge, codeChallengeMethod: "S256", resource: ORIGIN + path },
      },
      ...{ userId: person.id, scope: [...scopes], props: {} },
      metadata: { name: "Test client", ...person.remembered },
      revokeExistingGrants: false,
    });
  const code = new URL(redirectTo).searchParams.get("code") ?? "";
  const form = {
    ...{ grant_type: "authorization_code", client_id: client, redirect_uri: redirectUri },
    ...{ code, code_verifier: verifier },
  };
  return { person, client, grant: code.split(":")[1] ?? "", code, verifier, form };
}

/** An application that has its tokens. */
export interface Connected extends Code {
  readonly tokens: Tokens;
}

export async function connect(options: CodeOptions = {}): Promise<Connected> {
  const code = await newCode(options);
  return { ...code, tokens: await tokensIn(await ask(code.form)) };
}

/** The parameters of a refresh. */
export function refreshing({ client }: Pick<Code, "client">, refreshToken: string): Form {
  return { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
}

/** @returns whether a token is valid at this moment, for the endpoint at this path. */
export async function isGood(token: string, path = "/mcp"): Promise<boolean> {
  const [user = ""] = token.split(":");
  const { bearers } = records().store.ofUser(user);
  return (await bearers.check(ORIGIN, ORIGIN + path, token)) !== undefined;
}

/** The status of a response, and its `error` if it has one. */
export async function statusAndError(response: Response): Promise<readonly [number, unknown]> {
  const text = await response.text();
  if (text === "") return [response.status, undefined];
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (!response.ok) assertOAuthError(response.headers, body);
  return [response.status, body["error"]];
}

/** @throws Error if it is not in the form of RFC 6749 section 5.2, or may be kept. */
export function assertOAuthError(
  headers: Headers,
  { error, error_description }: Readonly<Record<string, unknown>>,
): void {
  const texts = [typeof error, typeof error_description];
  const form = [...texts, headers.get("content-type"), headers.get("cache-control")].join();
  if (form !== "string,string,application/json,no-store") throw new Error(`Not an error: ${form}`);
}

/** The events of a user, oldest first. */
export async function eventsOf({ id, shard }: Person): Promise<readonly string[]> {
  return (await shard.audit.list(id)).map(({ event }) => event).toReversed();
}
