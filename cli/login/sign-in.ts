/** One login in a browser: authorization code with PKCE (OAuth 2.1, RFC 8252). */

import { settleWithin } from "../../src/lib/time-out.ts";
import type { Login, LoginFile } from "../tokens/login-file.ts";
import { type CodeListener, listenForCode } from "./code-listener.ts";
import { discover } from "./discovery.ts";
import { LoginError } from "./login-error.ts";
import { pageStatus } from "./oauth-http.ts";
import { redeemCode, registerClient } from "./token-requests.ts";

/** As long as the gateway waits for a person. */
const PATIENCE_MS = 10 * 60_000;
/** The gateway does not know the registration, or has none for this (RFC 6749 sections 4.1.2.1 and 5.2). */
const UNKNOWN_CLIENT: ReadonlySet<unknown> = new Set(["invalid_client", "unauthorized_client"]);

export interface SignInOptions {
  readonly url: URL;
  readonly file: LoginFile;
  /** `WWW-Authenticate` of the refusal, or "". */
  readonly challenge: string;
  /** Called with the address that a person has to open. */
  readonly show: (page: string, listener: CodeListener) => void;
  readonly signal: AbortSignal;
}

/** For one process at a time. @returns the login that it replaces. @throws LoginError, NotReached or Broken. */
export async function signIn(options: SignInOptions): Promise<Login> {
  const { file, url, challenge, signal } = options;
  const { endpoints, scope } = await discover(url, challenge, signal);
  const before = await file.read();
  // An earlier login needs its own registration until this one is done.
  const isFirst = before.tokens === undefined;
  const change = (changes: Partial<Login>): Promise<Login> =>
    file.locked(signal, () => file.change(changes));

  const { createHash, randomBytes } = await import("node:crypto");
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  const listener = await listenForCode(state, endpoints.namesIssuer ? endpoints.issuer : undefined);
  const query = {
    response_type: "code",
    redirect_uri: listener.redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    resource: endpoints.resource,
    ...(scope !== undefined && { scope }),
  };
  const pageOf = (clientId: string): string => {
    const page = new URL(endpoints.authorization);
    const all = Object.entries({ ...query, client_id: clientId });
    for (const [name, value] of all) page.searchParams.set(name, value);
    return page.href;
  };
  let isShown = false;
  try {
    const known = before.endpoints?.issuer === endpoints.issuer ? before.clientId : undefined;
    const isGood = known !== undefined && !(await isRefused(pageOf(known), signal));
    const clientId = isGood ? known : await registerClient(endpoints, signal);
    const page = pageOf(clientId);
    await change({ page, ...(isFirst && { endpoints, clientId }) });
    options.show(page, listener);
    isShown = true;
    const code = await settleWithin(listener.code, PATIENCE_MS);
    if (code === undefined) throw new LoginError("Nobody has signed in");
    const { redirectUri } = listener;
    return await file.locked(signal, async () => {
      const replaced = await file.read();
      const tokens = await redeemCode(endpoints, { code, verifier, redirectUri }, clientId, signal);
      await file.change({ endpoints, clientId, tokens, signedInAt: Date.now() });
      return replaced;
    });
  } catch (error) {
    if (error instanceof LoginError) {
      // The next login makes another registration.
      const isUnknown = isFirst && UNKNOWN_CLIENT.has(error.code);
      const refusedAt = isShown ? Date.now() : before.refusedAt;
      await change({ refusedAt, ...(isUnknown && { clientId: undefined }) });
    }
    throw error;
  } finally {
    listener.close();
    await change({ page: undefined });
  }
}

/**
 * The authorization server may have forgotten a registration. It tells the person alone, and never leads them back (RFC
 * 6749 section 4.1.2.1: MUST NOT automatically redirect).
 */
async function isRefused(page: string, signal: AbortSignal): Promise<boolean> {
  return [400, 401].includes(await pageStatus(new URL(page), signal));
}
