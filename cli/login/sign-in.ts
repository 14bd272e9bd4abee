/** One login in a browser: authorization code with PKCE (OAuth 2.1, RFC 8252). */

import { settleWithin } from "../../src/lib/time-out.ts";
import type { Login, LoginFile } from "../tokens/login-file.ts";
import { type CodeListener, listenForCode } from "./code-listener.ts";
import { discover } from "./discovery.ts";
import { LoginError } from "./login-error.ts";
import { redeemCode, registerClient } from "./token-requests.ts";

/** As long as the gateway waits for a person. */
const PATIENCE_MS = 10 * 60_000;

export interface SignInOptions {
  readonly url: URL;
  readonly file: LoginFile;
  /** `WWW-Authenticate` of the refusal, or "". */
  readonly challenge: string;
  /** Called with the address that a person has to open. */
  readonly show: (page: string, listener: CodeListener) => void;
  readonly signal: AbortSignal;
}

/** Under the lock of the file. @throws LoginError, NotReached or Broken. */
export async function signIn(options: SignInOptions): Promise<Login> {
  const { file, url, challenge, signal } = options;
  const { endpoints, scope } = await discover(url, challenge, signal);
  const before = await file.read();
  const isKnown = before.clientId !== undefined && before.endpoints?.issuer === endpoints.issuer;
  const clientId =
    isKnown && before.clientId !== undefined
      ? before.clientId
      : await registerClient(endpoints, signal);
  await file.change({ endpoints, clientId });

  const { createHash, randomBytes } = await import("node:crypto");
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  const listener = await listenForCode(state, endpoints.namesIssuer ? endpoints.issuer : undefined);
  const page = new URL(endpoints.authorization);
  const query = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: listener.redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    resource: endpoints.resource,
    ...(scope !== undefined && { scope }),
  };
  for (const [name, value] of Object.entries(query)) page.searchParams.set(name, value);
  try {
    await file.change({ page: page.href });
    options.show(page.href, listener);
    const code = await settleWithin(listener.code, PATIENCE_MS);
    if (code === undefined) throw new LoginError("Nobody has signed in");
    const { redirectUri } = listener;
    const tokens = await redeemCode(endpoints, { code, verifier, redirectUri }, clientId, signal);
    return await file.change({ tokens });
  } catch (error) {
    // The gateway has forgotten the registration; the next login makes another one.
    if (error instanceof LoginError) await file.change({ clientId: undefined });
    throw error;
  } finally {
    listener.close();
    await file.change({ page: undefined });
  }
}
