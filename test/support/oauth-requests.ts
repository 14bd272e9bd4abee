/** The requests of an OAuth client, one function each, by the RFCs and nothing else. */

import type { Send } from "./oauth-browser.ts";

export interface Gateway {
  readonly origin: string;
  readonly send: Send;
}

export interface RegisteredClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly [field: string]: unknown;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly [field: string]: unknown;
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export type Parameters = Readonly<Record<string, string | undefined>>;

export const REDIRECT_URI = "http://127.0.0.1:9/cb";
/** A public client of this machine, as most are. */
export const PUBLIC_CLIENT = {
  client_name: "Test client",
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: "none",
} as const;

/** RFC 7591. @throws Error when it is refused. */
export async function register(
  gateway: Gateway,
  metadata: Readonly<Record<string, unknown>> = PUBLIC_CLIENT,
): Promise<RegisteredClient> {
  const response = await postJson(gateway, "/register", metadata);
  if (response.status !== 201) throw new Error(`Not registered: ${await inWords(response)}`);
  return response.json() as Promise<RegisteredClient>;
}

function postJson({ origin, send }: Gateway, path: string, body: unknown): Promise<Response> {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  return send(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** RFC 7636. */
export async function newPkce(verifier: string = newSecret()): Promise<Pkce> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: toBase64Url(new Uint8Array(digest)) };
}

/** 256 bits, for a `state` or a verifier. */
export function newSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCodePoint(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param parameters beside `response_type` and the method; `undefined` leaves one out. */
export function authorizeUrl({ origin }: Pick<Gateway, "origin">, parameters: Parameters): string {
  const all = { response_type: "code", code_challenge_method: "S256", ...parameters };
  return `${origin}/authorize?${formOf(all)}`;
}

function formOf(parameters: Parameters): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new URLSearchParams(given).toString();
}

/** One request of the token endpoint, whatever comes of it. */
export function requestToken(
  { origin, send }: Gateway,
  parameters: Parameters,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  const sent = { method: "POST", headers: { ...type, ...headers }, body: formOf(parameters) };
  return send(`${origin}/token`, sent);
}

/** @throws Error when it is refused. */
export async function tokensIn(response: Response): Promise<Tokens> {
  if (response.status !== 200) throw new Error(`No token: ${await inWords(response)}`);
  return response.json() as Promise<Tokens>;
}

async function inWords(response: Response): Promise<string> {
  return `${response.status} ${await response.text()}`;
}
