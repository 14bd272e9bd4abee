/**
 * A real vendor: `oidc-provider` with its own pages for login and consent, which registers clients, binds tokens to a
 * resource and takes refresh tokens once; and the fixture, a server of the official SDK of both eras, that wants them.
 */

import { randomBytes } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { Provider } from "oidc-provider";

import { createEndpoint } from "../../fixture-server/endpoint.ts";
import { nodeListener } from "../../fixture-server/http.ts";

export interface RealVendor {
  readonly url: string;
  readonly issuer: string;
  /** Every request to the authorization server, like "POST /token". */
  readonly requests: readonly string[];
  /** Withdraws all that people have granted: their tokens are worth nothing any more. */
  withdraw(): Promise<void>;
  stop(): Promise<void>;
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

/** @param ttl of access tokens, in seconds. */
export async function startRealOidc(ttl = 600): Promise<RealVendor> {
  const servers = [createServer(), createServer()] as const;
  const [issuer, origin] = (await Promise.all(servers.map(listen))) as [string, string];
  const url = `${origin}/mcp`;
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
        getResourceServerInfo: () => ({ scope: SCOPE, audience: url, accessTokenTTL: ttl }),
      },
    },
  });
  const requests: string[] = [];
  const serveProtocol = provider.callback();
  servers[0].on("request", (request, response) => {
    requests.push(`${request.method} ${new URL(request.url ?? "/", issuer).pathname}`);
    serveProtocol(request, response);
  });

  const models = provider as unknown as Models;
  const { AccessToken, RefreshToken } = models;
  const grants = new Set<string>();
  models.on("access_token.saved", ({ grantId }) => grants.add(grantId));
  const endpoint = createEndpoint();
  const serveMcp = nodeListener(endpoint.fetch);
  const metadata = { resource: url, authorization_servers: [issuer], scopes_supported: [SCOPE] };
  const place = "/.well-known/oauth-protected-resource/mcp";
  servers[1].on("request", (async (request, response) => {
    if (request.url === place) {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(metadata));
      return;
    }
    const [, value = ""] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    const token = value === "" ? undefined : await AccessToken.find(value);
    if (token === undefined || token.isExpired || token.aud !== url) {
      const challenge = `Bearer resource_metadata="${origin}${place}"`;
      response.writeHead(401, { "WWW-Authenticate": challenge }).end();
      return;
    }
    serveMcp(request, response);
  }) satisfies (...args: Parameters<RequestListener>) => Promise<void> as RequestListener);
  return {
    ...{ url, issuer, requests },
    async withdraw() {
      for (const model of [AccessToken, RefreshToken]) {
        await Promise.all(Array.from(grants, (grant) => model.revokeByGrantId(grant)));
      }
    },
    async stop() {
      await endpoint.close();
      await Promise.all(servers.map(close));
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
