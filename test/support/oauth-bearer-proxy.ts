/**
 * For clients that cannot sign in: stands before the gateway on this machine, and adds a bearer
 * token to what has none. All else goes through as it is, a foreign `Host` included.
 */

import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";

export interface BearerProxy {
  readonly origin: string;
  close(): Promise<void>;
}

export async function startBearerProxy(gateway: string, token: string): Promise<BearerProxy> {
  const { hostname, port, host } = new URL(gateway);
  const server = createServer((incoming, outgoing) => {
    const own = `localhost:${(server.address() as AddressInfo).port}`;
    const { method, url, headers } = incoming;
    const onward = forward(
      {
        ...{ hostname, port, method, path: url },
        headers: {
          Authorization: `Bearer ${token}`,
          ...headers,
          host: headers.host === own ? host : headers.host,
        },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on("error", () => outgoing.destroy());
      },
    );
    onward.on("error", () => outgoing.destroy());
    // A client that hangs up hangs up on the gateway.
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
