/** For clients that cannot sign in: a proxy that adds a bearer token to what has none. */

import { type GatewayProxy, startGatewayProxy } from "./gateway-proxy.ts";

export type BearerProxy = GatewayProxy;

export function startBearerProxy(gateway: string, token: string): Promise<BearerProxy> {
  return startGatewayProxy(gateway, {
    inward: (headers, body) => ({
      headers: { Authorization: `Bearer ${token}`, ...headers },
      body,
    }),
  });
}
