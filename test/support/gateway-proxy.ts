/**
 * The shell of a proxy before a gateway, on this machine. What it is for is given to it; all else
 * goes through as it is, a foreign `Host` included. A request is read whole first, an answer is not.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request as forward,
} from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, type Transform } from "node:stream";

export interface GatewayProxy {
  readonly origin: string;
  close(): Promise<void>;
}

/** What it changes. Who changes the length of a body sees to the headers about it. */
export interface Changes {
  /** Of what a client sends. */
  readonly inward: (
    headers: IncomingHttpHeaders,
    body: Buffer,
  ) => { readonly headers: OutgoingHttpHeaders; readonly body: Buffer };
  /** Of what it is answered; nothing, unless given. */
  readonly outward?: (headers: IncomingHttpHeaders) => {
    readonly headers: OutgoingHttpHeaders;
    readonly through: Transform;
  };
  /** Milliseconds that a request is held up; none, unless given. */
  readonly delay?: (method: string) => number;
}

export async function startGatewayProxy(
  gateway: string,
  { inward, outward = asItIs, delay = promptly }: Changes,
): Promise<GatewayProxy> {
  const { hostname, port, host } = new URL(gateway);
  const server = createServer((incoming, outgoing) => {
    const own = `localhost:${(server.address() as AddressInfo).port}`;
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "GET", url } = incoming;
      const sent = inward(incoming.headers, Buffer.concat(chunks));
      const asked = incoming.headers.host;
      const headers = { ...sent.headers, host: asked === own ? host : asked };
      const onward = forward({ hostname, port, method, path: url, headers }, (answer) => {
        const told = outward(answer.headers);
        outgoing.writeHead(answer.statusCode ?? 502, told.headers);
        outgoing.flushHeaders();
        answer.pipe(told.through).pipe(outgoing);
        answer.on("error", () => outgoing.destroy());
      });
      onward.on("error", () => outgoing.destroy());
      // A client that hangs up hangs up on the gateway.
      outgoing.on("close", () => onward.destroy());
      const holdMs = delay(method);
      if (holdMs === 0) onward.end(sent.body);
      else setTimeout(() => onward.end(sent.body), holdMs);
    });
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

function promptly(): number {
  return 0;
}

function asItIs(headers: IncomingHttpHeaders): ReturnType<NonNullable<Changes["outward"]>> {
  return { headers, through: new PassThrough() };
}
