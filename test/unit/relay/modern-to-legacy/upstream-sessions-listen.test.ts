/** Several sessions over HTTP+SSE: each may receive a change, and all may receive the same one. */

import { describe, test, vi } from "vitest";

import type { UpstreamSession } from "../../../../src/relay/modern-to-legacy/upstream-session.ts";
import { UpstreamSessions } from "../../../../src/relay/modern-to-legacy/upstream-sessions.ts";
import { bytesOf, fakeTarget, type Seen } from "../../upstream/fake-target.ts";
import { EVENTS, handshake } from "../../upstream/legacy/legacy-servers.ts";

const URI = "x:/1";
const UPDATED = { method: "notifications/resources/updated", params: { uri: URI } };
const { signal } = new AbortController();

/** Answers each session on its own stream. */
class SseServer {
  /** By session: what it was asked. */
  readonly asked: string[][] = [];
  readonly #streams: ReadableStreamDefaultController<Uint8Array>[] = [];

  readonly answer = ({ method, url, body }: Seen): Response => {
    if (method === "GET") return this.#open();
    const number = new URL(url).searchParams.get("session");
    if (number === null) return new Response(null, { status: 405 });
    this.asked[Number(number)]?.push(String(body["method"]));
    const result = body["method"] === "initialize" ? handshake : {};
    if (body["id"] !== undefined) this.say(Number(number), { id: body["id"], result });
    return new Response(null, { status: 202 });
  };

  say(session: number, message: object): void {
    const data = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#streams[session]?.enqueue(bytesOf(`event: message\ndata: ${data}\n\n`));
  }

  #open(): Response {
    const number = this.asked.push([]) - 1;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.push(controller);
        controller.enqueue(bytesOf(`event: endpoint\ndata: /m?session=${number}\n\n`));
      },
    });
    return new Response(stream, { headers: EVENTS });
  }
}

async function call(upstreamSession: UpstreamSession): Promise<void> {
  const peer = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };
  await upstreamSession.request({ call: { method: "tools/call", params: {} }, peer, signal });
}

/** Two sessions, in both of which a tool was called. */
async function two(): Promise<{
  server: SseServer;
  upstreamSessions: UpstreamSessions;
  updates: string[];
  wanted: string[];
}> {
  const server = new SseServer();
  const updates: string[] = [];
  const wanted = [URI];
  const upstreamSessions = new UpstreamSessions({
    target: fakeTarget(server.answer, { transport: "sse" }),
    client: { capabilities: {}, clientInfo: { name: "c", version: "1" } },
    quietMs: 1000,
    save: () => undefined,
    listenedUris: () => new Set(wanted),
    onUpdated: (uri) => void updates.push(uri),
  });
  await upstreamSessions.with(signal, (first) =>
    upstreamSessions.with(signal, async (second) => {
      await call(first);
      await call(second);
    }),
  );
  return { server, upstreamSessions, updates, wanted };
}

describe("several sessions", () => {
  test("are all subscribed, and left", async ({ expect }) => {
    const { server, upstreamSessions, wanted } = await two();
    const subscribed = server.asked.map((asked) =>
      asked.filter((one) => one.includes("subscribe")),
    );
    expect(subscribed).toEqual([["resources/subscribe"], ["resources/subscribe"]]);
    expect(upstreamSessions.hasListeners).toBe(true);
    wanted.pop();
    await upstreamSessions.followListeners();
    expect(server.asked.map((asked) => asked.at(-1))).toEqual(
      Array.from({ length: 2 }, () => "resources/unsubscribe"),
    );
    expect(upstreamSessions.hasListeners).toBe(false);
  });

  test("that receive one change announce it once", async ({ expect }) => {
    const { server, updates } = await two();
    for (const session of [0, 1]) server.say(session, UPDATED);
    server.say(1, { ...UPDATED, params: { uri: "x:/last" } });
    await vi.waitFor(() => expect(updates).toContain("x:/last"), { timeout: 30_000 });
    expect(updates).toEqual([URI, "x:/last"]);
  });

  test("announce the changes that only one of them receives", async ({ expect }) => {
    const { server, updates } = await two();
    server.say(0, UPDATED);
    server.say(0, UPDATED);
    server.say(1, { ...UPDATED, params: { uri: "x:/last" } });
    await vi.waitFor(() => expect(updates).toHaveLength(3), { timeout: 30_000 });
    expect(updates.filter((uri) => uri === URI)).toHaveLength(2);
  });
});
