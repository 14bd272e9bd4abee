/** The gateway's end of the wire of `edgeway publish`, by hand: it sends what a test orders. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

import { PING, PONG, PUBLISH_PROTOCOL } from "../../src/protocol/publishing.ts";
import type { Json } from "./clients-face.ts";
import { until } from "./until.ts";

/** A refusal before the upgrade. */
interface StubRefusal {
  readonly status: number;
  readonly body: string;
}

export interface PublishStub {
  readonly url: string;
  /** All frames that came, oldest first. */
  readonly frames: readonly Json[];
  /** The requests to upgrade. */
  readonly upgrades: readonly IncomingMessage[];
  /** The newest connection. */
  socket: WebSocket | undefined;
  /** Answers the next upgrades with this. */
  refusal: StubRefusal | undefined;
  /** What it answers to `hello`, in place of `welcome`. */
  onHello: ((name: string) => object) | undefined;
  /** Sends one frame. */
  send(frame: object): void;
  /** Sends a message on a channel, with this text. */
  deliver(name: string, channel: string, body: string): void;
  /** The first frame that fits, when it has come. */
  next(fits: (frame: Json) => boolean, what: string): Promise<Json>;
  /** Sends a request on a channel. @returns the answer. */
  ask(name: string, channel: string, method: string, params?: object): Promise<Json>;
  /** Opens a channel, once the server is offered. */
  open(name: string, channel: string): Promise<void>;
  close(): Promise<void>;
}

export async function startPublishStub(): Promise<PublishStub> {
  const frames: Json[] = [];
  const upgrades: IncomingMessage[] = [];
  const server = createServer((_, response) => response.writeHead(426).end());
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => PUBLISH_PROTOCOL });
  let asked = 0;

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrades.push(request);
    if (stub.refusal === undefined) {
      sockets.handleUpgrade(request, socket, head, (open) => accept(open));
      return;
    }
    const { status, body } = stub.refusal;
    const length = Buffer.byteLength(body);
    socket.end(
      `HTTP/1.1 ${status} No\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`,
    );
  });

  function accept(socket: WebSocket): void {
    stub.socket = socket;
    socket.on("message", (data: Buffer) => {
      const text = data.toString();
      if (text === PING) {
        socket.send(PONG);
        return;
      }
      const frame = { ...(JSON.parse(text) as Json), text };
      frames.push(frame);
      const { t, name } = frame as Json;
      if (t !== "hello") return;
      const welcome = { t: "welcome", name, slug: `my-${String(name)}` };
      stub.send(stub.onHello?.(String(name)) ?? welcome);
    });
    socket.on("error", () => undefined);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stub: PublishStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    frames,
    upgrades,
    socket: undefined,
    refusal: undefined,
    onHello: undefined,
    send: (frame) => stub.socket?.send(JSON.stringify(frame)),
    deliver(name, channel, body) {
      stub.socket?.send(`{"t":"message","name":"${name}","channel":"${channel}","body":${body}}`);
    },
    async next(fits, what) {
      await until(
        () => frames.some(fits),
        () => `${what}; so far: ${JSON.stringify(frames)}`,
      );
      return frames.find(fits) ?? {};
    },
    async ask(name, channel, method, params = {}) {
      const id = `ask-${++asked}`;
      stub.deliver(name, channel, JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const { body } = await stub.next(
        (frame) =>
          frame["channel"] === channel && (frame["body"] as Json | undefined)?.["id"] === id,
        `the answer to ${method}`,
      );
      return body as Json;
    },
    async open(name, channel) {
      await stub.next(({ t, name: offered }) => t === "hello" && offered === name, "a hello");
      stub.send({ t: "open", name, channel });
    },
    close() {
      stub.socket?.terminate();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return stub;
}
