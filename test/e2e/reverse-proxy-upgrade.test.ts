/** WebSockets through the reverse proxy of `npm start`; nothing else is upgraded. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { test as base } from "vitest";

import { startReverseProxy } from "../../scripts/reverse-proxy.mjs";
import { until } from "../support/until.ts";

interface Behind {
  /** The port of the proxy. */
  readonly port: number;
  readonly server: Server;
  /** The request that came last. */
  request: IncomingMessage | undefined;
}

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("behind", async ({}, { onCleanup }): Promise<Behind> => {
  const server = createServer((request, response) => {
    behind.request = request;
    response.writeHead(403, "Not Here", { "X-Own": "kept" });
    response.end("no WebSocket");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const front = await startReverseProxy({
    ...{ host: "127.0.0.1", port: 0, key: "KEY" },
    destination: Promise.resolve({ host: "127.0.0.1", port }),
  });
  const behind: Behind = { port: front, server, request: undefined };
  return behind;
});

/** A connection that asks for another protocol. */
class Asking {
  text = "";
  isClosed = false;
  readonly socket: Socket;

  constructor(port: number, { protocol = "websocket", path = "/publish", rest = "" } = {}) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("utf8").on("data", (chunk: string) => (this.text += chunk));
    this.socket.on("error", () => undefined).on("close", () => (this.isClosed = true));
    const lines = [
      ...[`GET ${path} HTTP/1.1`, "Host: localhost", `Connection: Upgrade`],
      ...[`Upgrade: ${protocol}`, "Sec-WebSocket-Key: a2V5", "Sec-WebSocket-Protocol: own.v1"],
      ...["Edgeway-Launcher: forged", "CF-Connecting-IP: 203.0.113.7"],
    ];
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n${rest}`);
  }

  has(text: string): Promise<void> {
    return until(
      () => this.text.includes(text),
      () => `${text} in ${this.text}`,
    );
  }
}

/** Accepts WebSockets, and sends back what comes. */
function echo(behind: Behind): Duplex[] {
  const sockets: Duplex[] = [];
  behind.server.on("upgrade", (request, socket, head) => {
    behind.request = request;
    sockets.push(socket.on("error", () => undefined));
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n");
    socket.write("Upgrade: websocket\r\nSec-WebSocket-Accept: YWNjZXB0\r\n\r\nwelcome ");
    socket.write(head);
    socket.pipe(socket);
  });
  return sockets;
}

test("a WebSocket is opened, and both ends hear each other", async ({ expect, behind }) => {
  echo(behind);
  const asking = new Asking(behind.port, { rest: "early " });
  await asking.has("welcome early ");
  asking.socket.write("later");
  await asking.has("later");
  expect(asking.text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(asking.text).toMatch(/\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/);
  expect(asking.text).toContain("Sec-WebSocket-Accept: YWNjZXB0\r\n");
  const { headers = {}, url } = behind.request ?? {};
  expect(url).toBe("/publish");
  expect(headers).toMatchObject({
    ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-protocol": "own.v1" },
    // As of every request: the proxy says who it is, and where the client is.
    ...{ "edgeway-launcher": "KEY", "cf-connecting-ip": "127.0.0.1" },
    "x-forwarded-for": "203.0.113.7",
  });
});

test("one that breaks on either side is broken on the other", async ({ expect, behind }) => {
  const sockets = echo(behind);
  const [leaving, left] = [new Asking(behind.port), new Asking(behind.port)];
  await Promise.all([leaving.has("welcome"), left.has("welcome")]);
  leaving.socket.destroy();
  await until(() => sockets.some(({ destroyed }) => destroyed), "the end behind the proxy");
  for (const socket of sockets) socket.destroy();
  await until(() => left.isClosed, "the end before the proxy");
  expect(left.text).toContain("101 Switching Protocols");
});

test("a refusal comes back as it is", async ({ expect, behind }) => {
  const asking = new Asking(behind.port);
  await until(() => asking.isClosed, "the end of the answer");
  expect(asking.text).toMatch(/^HTTP\/1\.1 403 Not Here\r\n/);
  expect(asking.text).toContain("X-Own: kept\r\n");
  expect(asking.text).toContain("no WebSocket");
});

test("what wrangler answers by itself is not reached by an upgrade", async ({ expect, behind }) => {
  echo(behind);
  const asking = new Asking(behind.port, { path: "/cdn-cgi/handler/scheduled" });
  await until(() => asking.isClosed, "the end of the answer");
  expect(asking.text).toMatch(/^HTTP\/1\.1 404 /);
  expect(behind.request).toBeUndefined();
});

test("another protocol is served without it", async ({ expect, behind }) => {
  echo(behind);
  const asking = new Asking(behind.port, { protocol: "h2c" });
  await asking.has("no WebSocket");
  asking.socket.destroy();
  expect(behind.request?.headers).not.toHaveProperty("upgrade");
});
