/** The reverse proxy of `npm start` changes nothing but what it is there to change. */

import {
  createServer,
  get,
  type IncomingMessage,
  request as sendRequest,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test as base } from "vitest";

import { startReverseProxy } from "../../scripts/reverse-proxy.mjs";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

interface Proxied {
  readonly origin: string;
  /** What is behind the proxy. */
  serve(listener: RequestListener): void;
  /** Lets the proxy know where to send what waits. */
  open(): void;
}

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("proxied", async ({}, { onCleanup }): Promise<Proxied> => {
  const server: Server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const known = Promise.withResolvers<{ host: string; port: number }>();
  const front = await startReverseProxy({
    host: "127.0.0.1",
    port: await freePort(),
    key: "KEY",
    destination: known.promise,
  });
  return {
    origin: `http://127.0.0.1:${front}`,
    serve: (listener) => void server.on("request", listener),
    open: () => known.resolve({ host: "127.0.0.1", port }),
  };
});

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test("the proxy passes method, path, headers and body on, and the response back", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => {
    void bodyOf(request).then((body) => {
      response.writeHead(207, "As It Is", [
        ...["Set-Cookie", "a=1", "Set-Cookie", "b=2"],
        ...["X-Request", `${request.method} ${request.url} ${String(request.headers["x-own"])}`],
      ]);
      response.end(body);
    });
  });
  proxied.open();
  const body = Buffer.alloc(3 * 1024 * 1024, "é");
  for (const method of ["POST", "PUT", "DELETE"]) {
    const response = await fetch(`${proxied.origin}/a/b?c=%20d`, {
      method,
      body,
      headers: { "X-Own": "kept" },
    });
    expect([response.status, response.statusText]).toEqual([207, "As It Is"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-request")).toBe(`${method} /a/b?c=%20d kept`);
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
  }
});

test("the proxy sets the headers about the connection itself, and drops those of clients", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => response.end(JSON.stringify(request.headers)));
  proxied.open();
  const response = await fetch(proxied.origin, {
    headers: {
      "CF-Connecting-IP": "203.0.113.9",
      "MF-Original-URL": "http://localhost/",
      "mf-anything": "1",
      "Edgeway-Launcher": "guessed",
      "X-Forwarded-Proto": "https",
    },
  });
  const headers: unknown = await response.json();
  expect(headers).toMatchObject({
    host: new URL(proxied.origin).host,
    "cf-connecting-ip": "127.0.0.1",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-proto": "https",
    "edgeway-launcher": "KEY",
  });
  expect(Object.keys(headers as object).filter((name) => name.startsWith("mf-"))).toEqual([]);
});

test("the proxy drops the headers of one connection, including those that Connection names", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => response.end(JSON.stringify(request.headers)));
  proxied.open();
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { Connection: "close, X-Hop", "X-Hop": "1", "X-End": "2", TE: "trailers" };
    get(proxied.origin, { headers }, (response) => {
      void bodyOf(response).then((body) => resolve(body.toString()));
    }).on("error", reject);
  });
  const headers: unknown = JSON.parse(text);
  expect(headers).toMatchObject({ "x-end": "2" });
  expect(headers).not.toHaveProperty("x-hop");
  expect(headers).not.toHaveProperty("te");
});

test("the proxy keeps a body within its request, whatever Connection names", async ({
  expect,
  proxied,
}) => {
  const inner = "GET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const framings = [
    ["Content-Length", String(inner.length), inner],
    ["Transfer-Encoding", "chunked", `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`],
  ];
  const arrived: unknown[] = [];
  proxied.serve((request, response) => {
    void bodyOf(request).then((body) => {
      arrived.push([request.method, request.url, request.headers.host, body.toString()]);
      response.end("served");
    });
  });
  proxied.open();
  const { port } = new URL(proxied.origin);
  const expected: unknown[] = [];
  for (const method of ["GET", "DELETE", "OPTIONS", "POST"]) {
    for (const [name, value, body] of framings) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `${method} /outer HTTP/1.1\r\nHost: outer\r\nConnection: close, Host, ${name}\r\n${name}: ${value}\r\n\r\n${body}`,
      );
      for await (const chunk of socket) void chunk;
      expected.push([method, "/outer", "outer", inner]);
    }
  }
  // The one that follows is on the connection that the others have left.
  expect(await (await fetch(`${proxied.origin}/next`)).text()).toBe("served");
  expect(arrived).toEqual([...expected, ["GET", "/next", new URL(proxied.origin).host, ""]]);
});

test("the proxy serves clients that announce trailers, and drops the trailers", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => {
    response.writeHead(200, { Trailer: "X-End", "X-Trailer": request.headers.trailer ?? "none" });
    response.addTrailers({ "X-End": "1" });
    response.end("served");
  });
  proxied.open();
  const { port } = new URL(proxied.origin);
  const requests = [
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTrailer: X-End\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTrailer: X-End\r\nContent-Length: 2\r\n\r\nab",
    "GET / HTTP/1.0\r\nHost: a\r\nTrailer: X-End\r\n\r\n",
  ];
  for (const request of requests) {
    const socket = connect(Number(port), "127.0.0.1");
    // Node.js answers no client that has ended its side.
    socket.write(request);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*X-Trailer: none\r\n/);
    expect(answer).not.toMatch(/^Trailer:/m);
  }
});

test("the proxy answers wrangler's own paths itself, however they are spelled", async ({
  expect,
  proxied,
}) => {
  proxied.serve((_, response) => response.end("served"));
  proxied.open();
  const { port } = new URL(proxied.origin);
  const statusOf = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      // `fetch` would take the steps up out of the path.
      get({ host: "127.0.0.1", port, path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on("error", reject);
    });
  for (const path of [
    "/cdn-cgi/local/scheduled",
    "/cdn-cgi/local/email?from=a@b.example",
    "/mcp/../cdn-cgi/handler/scheduled",
    "/mcp/%2e%2e/cdn-cgi/",
    "/\\../cdn-cgi/local/email",
  ]) {
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  }
  expect(await statusOf("/cdn-cgi-like")).toBe(200);
});

test("the proxy holds a request until its target is known", async ({ expect, proxied }) => {
  const arrived: string[] = [];
  proxied.serve((request, response) => {
    arrived.push(request.url ?? "");
    response.end("served");
  });
  const early = fetch(`${proxied.origin}/early`);
  expect(arrived).toEqual([]);
  proxied.open();
  expect(await (await early).text()).toBe("served");
  expect(arrived).toEqual(["/early"]);
});

test("the proxy passes on the head of a stream at once, and each part as it comes", async ({
  expect,
  proxied,
}) => {
  const opened: ServerResponse[] = [];
  proxied.serve((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    opened.push(response);
  });
  proxied.open();
  const response = await fetch(proxied.origin);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (const part of ["one", "two"]) {
    opened[0]?.write(part);
    expect((await reader?.read())?.value).toBe(part);
  }
  await reader?.cancel();
});

test("the proxy closes the server's connection when the client disconnects", async ({
  proxied,
}) => {
  const open = { head: 0, hungUp: 0 };
  proxied.serve((_, response) => {
    open.head += 1;
    response.on("close", () => (open.hungUp += 1));
    if (open.head === 2) response.writeHead(200).flushHeaders();
  });
  proxied.open();
  // Once before the response has begun, and once in its middle.
  for (const count of [1, 2]) {
    const client = sendRequest(proxied.origin, { agent: false });
    client.on("error", () => undefined).end();
    await until(() => open.head === count, "the request to arrive");
    client.destroy();
    await until(() => open.hungUp === count, "the server to see that the client is gone");
  }
});

test("the proxy breaks the response that the server breaks, before it begins and within it", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => {
    if (request.url === "/before") return request.socket.destroy();
    response.writeHead(200, { "Content-Type": "text/plain" });
    return response.write("half", () => request.socket.destroy());
  });
  proxied.open();
  await expect(fetch(`${proxied.origin}/before`)).rejects.toThrow("fetch failed");
  const within = await fetch(`${proxied.origin}/within`);
  await expect(within.text()).rejects.toThrow("terminated");
});

test("the proxy passes on a response that comes before the body is read to its end", async ({
  expect,
  proxied,
}) => {
  proxied.serve((request, response) => {
    response.writeHead(413, { Connection: "close" }).end("too large");
    response.on("finish", () => request.socket.destroySoon());
  });
  proxied.open();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const client = sendRequest(proxied.origin, { method: "POST", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    client.on("error", reject);
    // The rest never comes.
    client.write(Buffer.alloc(64 * 1024));
  });
  expect(status).toBe(413);
});
