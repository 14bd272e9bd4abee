/** The port between a connection and its transport: every wire keeps the same promises to it. */

import { describe, test } from "vitest";

import { connect } from "../../../../src/upstream/legacy/find-transport.ts";
import { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import type { LegacyClient } from "../../../../src/upstream/legacy/handshake.ts";
import { withResumeTokens } from "../../../../src/upstream/legacy/resume-token.ts";
import { runExchange } from "../../../../src/upstream/legacy/run-exchange.ts";
import type { Wire } from "../../../../src/upstream/legacy/wire.ts";
import { nullPeer } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { refuseNothing } from "../../protocol/exchange-peers.ts";
import { bytesOf, failureOf, fakeTarget, json, type Seen } from "../fake-target.ts";
import { EVENTS, handshake } from "./legacy-servers.ts";

/** The server's reaction to the next call. */
type Deed = "answers" | "stays silent" | "has forgotten the session" | "breaks off";

interface World {
  readonly target: UpstreamTarget;
  /** The methods of the messages that the server has received. */
  readonly received: unknown[];
  deed: Deed;
}

const client: LegacyClient = {
  revision: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
};
const peer = nullPeer("No client is asked");

function eventOf(message: object): Uint8Array {
  return bytesOf(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function streamableHttp(): World {
  const target = fakeTarget(
    ({ method, body }) => {
      if (method !== "POST") return new Response(null, { status: 405 });
      world.received.push(body["method"]);
      const { id } = body;
      if (body["method"] === "initialize") {
        const headers = { "Mcp-Session-Id": "s" };
        return json({ jsonrpc: "2.0", id, result: handshake }, { headers });
      }
      if (id === undefined) return new Response(null, { status: 202 });
      if (world.deed === "answers") return json({ jsonrpc: "2.0", id, result: { ok: 1 } });
      if (world.deed === "has forgotten the session") return new Response(null, { status: 404 });
      const silent = new ReadableStream<Uint8Array>();
      return new Response(world.deed === "breaks off" ? "" : silent, { headers: EVENTS });
    },
    { transport: "streamable-http" },
  );
  const world: World = { target, received: [], deed: "answers" };
  return world;
}

function httpSse(): World {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const open = ({ signal }: Seen): Response => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller;
        controller.enqueue(bytesOf("event: endpoint\ndata: /messages\n\n"));
        signal?.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: EVENTS });
  };
  const target = fakeTarget(
    (seen) => {
      if (seen.method === "GET") return open(seen);
      const { id, method } = seen.body;
      world.received.push(method);
      const result = method === "initialize" ? handshake : { ok: 1 };
      const isCall = id !== undefined && method !== "initialize";
      if (isCall && world.deed === "has forgotten the session") {
        return new Response(null, { status: 404 });
      }
      if (isCall && world.deed === "breaks off") stream?.close();
      else if (id !== undefined && !(isCall && world.deed === "stays silent")) {
        stream?.enqueue(eventOf({ jsonrpc: "2.0", id, result }));
      }
      return new Response("Accepted", { status: 202 });
    },
    { transport: "sse" },
  );
  const world: World = { target, received: [], deed: "answers" };
  return world;
}

async function opened(world: World): Promise<{
  readonly wire: Wire;
  readonly call: (signal?: AbortSignal) => Promise<Reply>;
}> {
  const { target } = world;
  const exchanges = new Exchanges(() => Promise.resolve(true), refuseNothing);
  const recipient = withResumeTokens(peer);
  const { wire } = await connect(target, client, exchanges, (session, parsed) =>
    exchanges.receive(parsed, recipient, session),
  );
  const { signal: never } = new AbortController();
  return {
    wire,
    call: (signal = never) =>
      runExchange({ target, exchanges, wire, peer, signal, call: { method: "tools/call" } }),
  };
}

describe.for([
  ["Streamable HTTP", streamableHttp],
  ["HTTP+SSE", httpSse],
] as const)("a wire of %s", ([, newWorld]) => {
  test("brings the answer to a request, and to the next one", async ({ expect }) => {
    const world = newWorld();
    const { call } = await opened(world);
    expect([await call(), await call()]).toEqual([{ result: { ok: 1 } }, { result: { ok: 1 } }]);
    expect(world.received).toEqual(["initialize", "tools/call", "tools/call"]);
  });

  test("reports that a request did not run when the server has forgotten the session", async ({
    expect,
  }) => {
    const world = newWorld();
    const { call } = await opened(world);
    world.deed = "has forgotten the session";
    expect(await failureOf(call())).toMatchObject({ failure: "session-lost" });
  });

  test("reports that the outcome is unknown when the stream ends before the answer", async ({
    expect,
  }) => {
    const world = newWorld();
    const { call } = await opened(world);
    world.deed = "breaks off";
    expect(await failureOf(call())).toMatchObject({ failure: "lost" });
    expect(world.received).toEqual(["initialize", "tools/call"]);
  });

  test("ends with the reason of the abort, and sends the server a cancellation", async ({
    expect,
  }) => {
    const world = newWorld();
    const { call } = await opened(world);
    world.deed = "stays silent";
    const leaving = new AbortController();
    const failure = failureOf(call(leaving.signal));
    await expect.poll(() => world.received).toContain("tools/call");
    const reason = new Error("The client has gone");
    leaving.abort(reason);
    expect(await failure).toBe(reason);
    await expect.poll(() => world.received).toContain("notifications/cancelled");
  });

  test("sends nothing for a request that was aborted before", async ({ expect }) => {
    const world = newWorld();
    const { call } = await opened(world);
    expect(await failureOf(call(AbortSignal.abort(new Error("gone"))))).toEqual(new Error("gone"));
    expect(world.received).toEqual(["initialize"]);
  });

  test("may be closed twice, and sends a message that has no response", async ({ expect }) => {
    const world = newWorld();
    const { wire } = await opened(world);
    await wire.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(world.received).toEqual(["initialize", "notifications/initialized"]);
    await wire.close();
    await wire.close();
  });
});
