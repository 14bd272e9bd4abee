/**
 * A real OpenID provider (`oidc-provider`) on loopback, with two people, `alice` and `bob`. What it
 * cannot be made to do wrong, its switches do.
 */

import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { decodeJwt, exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

import {
  CONTROL_PATH,
  type OidcState,
  type Person,
  type Subject,
  type Switches,
} from "./oidc-control.ts";
import { type Fault, FAULTS, type SigningKey } from "./oidc-faults.ts";
import { serveInteraction } from "./oidc-interaction.ts";
import { OidcStore } from "./oidc-store.ts";

export interface TestOidcProvider extends OidcState {
  /** Takes effect at once. */
  turn(switches: Switches): void;
  allowRedirect(uri: string): void;
  endSession(subject: Subject): void;
  stop(): Promise<void>;
}

/** In seconds. */
const TTL = {
  AccessToken: 600,
  AuthorizationCode: 60,
  Grant: 3600,
  IdToken: 300,
  Interaction: 600,
  RefreshToken: 3600,
  Session: 3600,
};

/** @param givesRefreshTokens each good for one use; if not, access tokens are all that it gives. */
export async function startOidcProvider(givesRefreshTokens = true): Promise<TestOidcProvider> {
  const client = { client_id: "edgeway-tests", client_secret: randomBytes(24).toString("hex") };
  const people = new Map<string, Person>([
    ["alice", person("Alice Example", "alice@example.com", ["mcp-users", "staff"])],
    ["bob", person("Bob Example", "bob@other.example", ["staff"])],
  ]);
  const store = new OidcStore(client);
  const requests: string[] = [];
  let fault: Fault | undefined;
  let isOut = false;

  // The issuer has the port in it, so the port comes first.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;

  const key: SigningKey = {
    kid: "tests",
    ...(await generateKeyPair("RS256", { extractable: true })),
  };
  const jwk = { ...(await exportJWK(key.privateKey)), kid: key.kid, alg: "RS256", use: "sig" };
  const provider = new Provider(issuer, {
    adapter: (model: string) => store.adapter(model),
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(24).toString("hex")] },
    claims: { openid: ["sub"], profile: ["name", "groups"], email: ["email", "email_verified"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    rotateRefreshToken: true,
    ...(!givesRefreshTokens && { issueRefreshToken: () => false }),
    ttl: TTL,
    findAccount: (_: unknown, accountId: string) =>
      people.has(accountId)
        ? { accountId, claims: async () => ({ sub: accountId, ...people.get(accountId) }) }
        : undefined,
    renderError: (ctx: { type: string; body: string }, { error }: { error: string }) => {
      ctx.type = "text/plain";
      ctx.body = error;
    },
  });
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (fault === undefined || ctx.path !== "/token" || body?.id_token === undefined) return;
    body.id_token = await FAULTS[fault](decodeJwt(body.id_token), key);
  });

  function turn(switches: Switches): void {
    if (switches.allowRedirect !== undefined) store.allow(switches.allowRedirect);
    if (switches.endSession !== undefined) store.forget(switches.endSession);
    if (switches.misbehave !== undefined) fault = switches.misbehave ?? undefined;
    if (switches.isOut !== undefined) ({ isOut } = switches);
    for (const [subject, change] of Object.entries(switches.change ?? {})) {
      people.set(subject, { ...person("", "", []), ...people.get(subject), ...change });
    }
  }

  const state = {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    requests,
  };
  const serveProtocol = provider.callback();
  server.on("request", (request, response) => {
    const { pathname } = new URL(request.url ?? "/", issuer);
    const fail = (error: unknown): void => void response.writeHead(400).end(String(error));
    if (pathname === CONTROL_PATH) {
      text(request)
        .then((body) => {
          turn(JSON.parse(body));
          response.writeHead(200, { "Content-Type": "application/json" });
          response.end(JSON.stringify(state));
        })
        .catch(fail);
      return;
    }
    requests.push(`${request.method} ${pathname}`);
    if (isOut) response.writeHead(503).end();
    else if (!pathname.startsWith("/interaction/")) serveProtocol(request, response);
    else serveInteraction(provider, (name) => people.has(name), request, response).catch(fail);
  });

  return {
    ...state,
    turn,
    allowRedirect: (uri) => turn({ allowRedirect: uri }),
    endSession: (subject) => turn({ endSession: subject }),
    stop: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

function person(name: string, email: string, groups: readonly string[]): Person {
  return { name, email, email_verified: true, groups };
}
