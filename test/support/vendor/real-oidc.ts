/**
 * A real vendor: `oidc-provider` with its own pages for login and consent, which registers clients, binds tokens to a
 * resource and takes refresh tokens once; and servers of the official SDK of both eras, which want them.
 */

import { randomBytes } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { Provider } from "oidc-provider";

import { createEndpoint } from "../../fixture-server/endpoint.ts";
import { nodeListener } from "../../fixture-server/http.ts";

export interface RealVendor {
  /** Of its first server. */
  readonly url: string;
  readonly servers: readonly RealServer[];
  readonly issuer: string;
  /** Every request to the authorization server, like "POST /token". */
  readonly requests: readonly string[];
  /** Withdraws all that people have granted: their tokens are worth nothing any more. */
  withdraw(): Promise<void>;
  stop(): Promise<void>;
}

interface RealServer {
  readonly url: string;
  /** Each token that it was shown, good or not. */
  readonly shown: ReadonlySet<string>;
}

interface AccessTokens extends Tokens {
  find(value: string): Promise<{ readonly aud?: string; readonly isExpired: boolean } | undefined>;
}

interface Tokens {
  revokeByGrantId(grantId: string): Promise<void>;
}

interface Models {
  readonly AccessToken: AccessTokens;
  readonly RefreshToken: Tokens;
  on(event: "access_token.saved", hear: (token: { readonly grantId: string }) => void): void;
}

const SCOPE = "mcp";
/** Of access tokens. */
const TTL_SECONDS = 600;

/** @param count of servers behind the one authorization server. */
export async function startRealOidc(count = 1): Promise<RealVendor> {
  const authority = createServer();
  const issuer = await listen(authority);
  const sites = Array.from({ length: count }, () => createServer());
  const origins = await Promise.all(sites.map(listen));
  const [url = ""] = origins.map(urlAt);
  const provider = new Provider(issuer, {
    cookies: { keys: [randomBytes(24).toString("hex")] },
    pkce: { required: () => true },
    scopes: [SCOPE, "offline_access"],
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => url,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          ...{ scope: SCOPE, audience, accessTokenTTL: TTL_SECONDS },
        }),
      },
    },
  });
  const requests: string[] = [];
  const serveProtocol = provider.callback();
  authority.on("request", (request, response) => {
    requests.push(`${request.method} ${new URL(request.url ?? "/", issuer).pathname}`);
    serveProtocol(request, response);
  });

  const models = provider as unknown as Models;
  const { AccessToken, RefreshToken } = models;
  const grants = new Set<string>();
  models.on("access_token.saved", ({ grantId }) => grants.add(grantId));
  const endpoint = createEndpoint();
  const serveMcp = nodeListener(endpoint.fetch);
  const servers = origins.map((origin, n): RealServer => {
    const shown = new Set<string>();
    const isGood = async (value: string): Promise<boolean> => {
      shown.add(value);
      const token = await AccessToken.find(value);
      return token !== undefined && !token.isExpired && token.aud === urlAt(origin);
    };
    sites[n]?.on("request", protectedBy({ origin, issuer, isGood }, serveMcp));
    return { url: urlAt(origin), shown };
  });
  return {
    ...{ url, servers, issuer, requests },
    async withdraw() {
      for (const model of [AccessToken, RefreshToken]) {
        await Promise.all(Array.from(grants, (grant) => model.revokeByGrantId(grant)));
      }
    },
    async stop() {
      await endpoint.close();
      await Promise.all([authority, ...sites].map(close));
    },
  };
}

interface Protection {
  readonly origin: string;
  readonly issuer: string;
  readonly isGood: (token: string) => Promise<boolean>;
}

/** RFC 9728: says where its authorization server is, and lets in whoever has a token of that. */
function protectedBy(
  { origin, issuer, isGood }: Protection,
  serve: RequestListener,
): RequestListener {
  const place = "/.well-known/oauth-protected-resource/mcp";
  const metadata = {
    ...{ resource: urlAt(origin), authorization_servers: [issuer], scopes_supported: [SCOPE] },
  };
  const answer = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    if (request.url === place) {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(metadata));
      return;
    }
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (token !== undefined && (await isGood(token))) {
      serve(request, response);
      return;
    }
    const challenge = `Bearer resource_metadata="${origin}${place}"`;
    response.writeHead(401, { "WWW-Authenticate": challenge }).end();
  };
  return (request, response) => {
    answer(request, response).catch(() => response.destroy());
  };
}

function urlAt(origin: string): string {
  return `${origin}/mcp`;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
