/** Legacy servers of either transport, as functions that answer a fake target's requests. */

import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { connect, type Connected } from "../../../../src/upstream/legacy/find-transport.ts";
import { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import { type Answer, bytesOf, json, type Seen } from "../fake-target.ts";
import { refuseNothing } from "../../protocol/exchange-peers.ts";

const client = {
  revision: "2025-06-18",
  capabilities: { roots: {}, tasks: {} },
  clientInfo: { name: "c", version: "1" },
} as const;
export const handshake = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "s", version: "2" },
};
export const EVENTS = { "Content-Type": "text/event-stream" };

export function shakeHands(target: UpstreamTarget): Promise<Connected> {
  const exchanges = new Exchanges(async (session, response) => {
    await session.post(response);
    return true;
  }, refuseNothing);
  const nobody = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };
  return connect(target, client, exchanges, (session, parsed) =>
    exchanges.receive(parsed, nobody, session),
  );
}

export const result =
  (result: object, headers: Record<string, string> = {}): Answer =>
  ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], result }, { headers });

export const refusal =
  (status: number, code: number, data?: unknown): Answer =>
  ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], error: { code, message: "m", data } }, { status });

/** A server of 2024-11-05: `POST` to the stream's own URL gets the answer of `refuse`. */
export function sseServer(refuse: Answer, endpoint = "/messages?id=1"): Answer {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  return (seen) => {
    const { method, url, body, signal } = seen;
    if (method === "GET") {
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          controller.enqueue(bytesOf(`event: endpoint\ndata: ${endpoint}\n\n`));
          signal?.addEventListener("abort", () => controller.error(signal.reason));
        },
      });
      return new Response(source, { headers: EVENTS });
    }
    if (new URL(url).pathname !== "/messages") return refuse(seen);
    const message = { jsonrpc: "2.0", id: body["id"], result: handshake };
    stream?.enqueue(bytesOf(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
    return new Response("Accepted", { status: 202 });
  };
}

/** The requests of a handshake, as "METHOD path" lines. */
export function recorded(answer: Answer): { seen: Seen[]; asked: () => string[]; answer: Answer } {
  const seen: Seen[] = [];
  return {
    seen,
    asked: () => seen.map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    answer: (request) => {
      seen.push(request);
      return answer(request);
    },
  };
}
