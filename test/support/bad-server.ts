/** Servers that do harm: one that is not there, one that never answers, one that answers nonsense. */

import { createServer, type Server, type ServerResponse } from "node:http";

import { freePort } from "./free-port.ts";

export type Badness = "dead" | "stalling" | "garbage";

export interface BadServer {
  readonly url: string;
  /** How many requests it was sent. */
  readonly requests: () => number;
  /** Nobody listens at its port any more. */
  kill(): Promise<void>;
  /** It does harm again. */
  revive(): Promise<void>;
}

const GARBAGE: readonly ((response: ServerResponse) => void)[] = [
  (response) => send(response, "text/html", "<!doctype html><title>Hello</title>"),
  (response) => send(response, "application/json", '{"jsonrpc":"2.0","id":1,"result":{"tools":[{'),
  (response) => send(response, "application/json", '{"jsonrpc":"2.0","id":"nobody","result":{}}'),
  (response) => send(response, "application/json", '[1,2,"three",null]'),
  (response) => send(response, "text/event-stream", "data: {not json}\n\ndata: 17\n\n"),
  (response) => send(response, "image/png", "\u0000\u0001\u0002"),
  (response) => response.socket?.destroy(),
];

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { "Content-Type": type }).end(body);
}

export async function startBadServer(badness: Badness): Promise<BadServer> {
  const port = await freePort();
  let server: Server | undefined;
  let requests = 0;
  const bad: BadServer = {
    url: `http://localhost:${port}/mcp`,
    requests: () => requests,
    async kill() {
      server?.closeAllConnections();
      await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
      server = undefined;
    },
    async revive() {
      if (badness === "dead" || server !== undefined) return;
      const revived = createServer((request, response) => {
        requests += 1;
        request.resume();
        if (badness === "garbage") GARBAGE[requests % GARBAGE.length]?.(response);
      });
      await new Promise<void>((resolve) => revived.listen(port, "localhost", resolve));
      server = revived;
    },
  };
  await bad.revive();
  return bad;
}
