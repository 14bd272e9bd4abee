/** The client at the authorization server: its registration, codes, and the renewal and end of tokens. */

import { hostname } from "node:os";

import type { JsonObject } from "../../src/protocol/json-rpc.ts";
import type { Endpoints, Tokens } from "../tokens/login-file.ts";
import { LoginError } from "./login-error.ts";
import { postForm, postJson } from "./oauth-http.ts";

/** Without a port, which may be any one then (RFC 8252 section 7.3). */
const REDIRECT_URI = "http://127.0.0.1/callback";

/**
 * Registers the command (RFC 7591), once for each login file. A metadata document of the gateway's own would need
 * no registration, but the gateway does not fetch from itself, and no client id is an address of this machine.
 */
export async function registerClient(endpoints: Endpoints, signal: AbortSignal): Promise<string> {
  if (endpoints.registration === undefined) {
    throw new LoginError(`${endpoints.issuer} registers no clients`);
  }
  const client = await postJson(
    endpoints.registration,
    {
      // People see at /account what is connected; the machine tells one laptop from another.
      client_name: `Edgeway on ${hostname()}`,
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    signal,
  );
  const id = client["client_id"];
  if (typeof id !== "string") throw new LoginError(`${endpoints.issuer} registered nothing`);
  return id;
}

export async function redeemCode(
  { token, resource }: Endpoints,
  fields: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  clientId: string,
  signal: AbortSignal,
): Promise<Tokens> {
  const answer = await postForm(
    token,
    {
      grant_type: "authorization_code",
      code: fields.code,
      code_verifier: fields.verifier,
      redirect_uri: fields.redirectUri,
      client_id: clientId,
      resource,
    },
    signal,
  );
  return tokensOf(answer, undefined);
}

export async function refreshTokens(
  { token, resource }: Endpoints,
  refresh: string,
  clientId: string,
  signal: AbortSignal,
): Promise<Tokens> {
  const fields = {
    grant_type: "refresh_token",
    refresh_token: refresh,
    client_id: clientId,
    resource,
  };
  return tokensOf(await postForm(token, fields, signal), refresh);
}

/** Ends the login at the gateway (RFC 7009): with the refresh token, all of its family. */
export async function revokeToken(
  { revocation }: Endpoints,
  token: string,
  clientId: string,
  signal: AbortSignal,
): Promise<void> {
  if (revocation !== undefined) await postForm(revocation, { token, client_id: clientId }, signal);
}

/** @param refresh that goes on where the answer has no other. */
function tokensOf(answer: JsonObject, refresh: string | undefined): Tokens {
  const { access_token: access, refresh_token: next, expires_in: seconds } = answer;
  if (typeof access !== "string") throw new LoginError("The answer has no access token");
  const obtainedAt = Date.now();
  return {
    access,
    refresh: typeof next === "string" ? next : refresh,
    obtainedAt,
    expiresAt: typeof seconds === "number" ? obtainedAt + seconds * 1000 : undefined,
  };
}
