/** Serves responses on loopback, as a site of its own: another port is another origin. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

export interface Site {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  stop(): Promise<void>;
}

/** @param body of a form that was sent. */
export type Answer = (request: IncomingMessage, body: string) => Response | Promise<Response>;

export async function serveSite(answer: Answer): Promise<Site> {
  const server = createServer((request, reply) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    const respond = async (): Promise<void> => {
      const response = await answer(request, body);
      reply.writeHead(response.status, Object.fromEntries(response.headers));
      reply.end(await response.text());
    };
    request.on("end", () => void respond());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
