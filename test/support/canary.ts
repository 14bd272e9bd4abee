/**
 * The canary: one server in Node that plays every host outside this machine for the Worker under
 * test, answers what a test has put at a URL, and counts each request that comes.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { type CanaryAnswer, type CanaryHit, CLIENT_HOSTS } from "./canary-script.ts";

export interface Canary {
  readonly origin: string;
  stop(): Promise<void>;
}

export async function startCanary(): Promise<Canary> {
  const answers = new Map<string, CanaryAnswer>();
  const hits: CanaryHit[] = [];

  /** A request of the Worker under test, which `way-out.mjs` has turned here. */
  function play(request: IncomingMessage, response: ServerResponse): void {
    const { "x-canary-url": asked, ...headers } = request.headers;
    const url = new URL(String(asked));
    const given = answers.get(url.href);
    const isEscape = given === undefined && !url.hostname.endsWith(CLIENT_HOSTS);
    const hit = { url: url.href, method: request.method ?? "", isEscape };
    hits.push({ ...hit, headers: headers as Record<string, string> });
    if (isEscape) response.writeHead(403).end("no test has made up this host");
    else answer(given ?? { status: 404 }, response);
  }

  /** PUT: what to answer at a URL. GET: the hits, of one host or of all. */
  async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://canary");
    let result: unknown;
    if (pathname === "/control/answers") {
      const { url, ...given } = (await json(request)) as CanaryAnswer & { readonly url: string };
      answers.set(new URL(url).href, given);
      result = true;
    } else {
      const host = searchParams.get("host");
      result = hits.filter(({ url }) => host === null || new URL(url).host === host);
    }
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(result));
  }

  const server = createServer((request, response) => {
    if (request.url === "/played") play(request, response);
    else control(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(given: CanaryAnswer, response: ServerResponse): void {
  const { status = 200, headers = {}, body = "", isEndless = false } = given;
  if (status === 0) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.flushHeaders();
  if (body !== "") response.write(body);
  if (!isEndless) response.end();
}
