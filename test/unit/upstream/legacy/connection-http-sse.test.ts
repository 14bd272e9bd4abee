/** Sessions over HTTP+SSE that a server forgets: none of their streams is left open. */

import { describe, onTestFinished, test, vi } from "vitest";

import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import { type Answer, bytesOf, failureOf, fakeTarget, html, type Seen } from "../fake-target.ts";
import { EVENTS, handshake, sseServer } from "./legacy-servers.ts";

const { signal: never } = new AbortController();
const PEER = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };

/** A session at a server that refuses these methods, and how many of its streams are open. */
function connectionAt(refuses: (method: unknown, nth: number) => number | undefined): {
  readonly call: () => Promise<unknown>;
  readonly opened: () => number;
  readonly open: () => number;
} {
  const streams: Seen[] = [];
  const posted = new Map<unknown, number>();
  const serve = sseServer(() => html(404));
  const target = fakeTarget(
    (seen) => {
      if (seen.method === "GET") streams.push(seen);
      else {
        const { method, id } = seen.body;
        const nth = (posted.get(method) ?? 0) + 1;
        posted.set(method, nth);
        const status = refuses(method, nth);
        if (status !== undefined) return html(status);
        // A notification: nothing comes of it.
        if (id === undefined) return new Response("Accepted", { status: 202 });
      }
      return serve(seen);
    },
    { transport: "sse" },
  );
  const connection = new LegacyConnection({
    ...{ target, unsolicited: PEER, save: () => undefined },
    client: { revision: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
  });
  return {
    call: () =>
      failureOf(connection.request({ method: "tools/call", params: { name: "a" } }, PEER, never)),
    opened: () => streams.length,
    open: () => streams.filter(({ signal }) => signal?.aborted === false).length,
  };
}

describe("a session over HTTP+SSE", () => {
  test("that is forgotten leaves no stream behind", async ({ expect }) => {
    const { call, opened, open } = connectionAt((method, nth) =>
      method === "tools/call" && nth % 2 === 1 ? 404 : undefined,
    );
    for (let n = 1; n <= 3; n++) {
      expect(await call()).toBeUndefined();
      expect([opened(), open()]).toEqual([n + 1, 1]);
    }
  });

  test("that could not be made again leaves none either", async ({ expect }) => {
    const { call, opened, open } = connectionAt((method) =>
      method === "notifications/initialized" ? 500 : undefined,
    );
    for (let n = 1; n <= 3; n++) {
      expect(await call()).toMatchObject({ failure: "unreachable" });
      expect([opened(), open()]).toEqual([n, 0]);
    }
  });
});

/** What an earlier life of its holder kept of a session. */
const SAVED: SavedConnection = {
  ...{ transport: "sse" as const, sessionId: undefined, logLevel: undefined },
  handshake: { revision: "2025-06-18", capabilities: {}, serverInfo: {} },
};
const HOUR_MS = 3_600_000;

/** Listens in a session of an earlier life. */
class Restored {
  /** When a stream was opened, in milliseconds from the beginning. */
  readonly openedAt: number[] = [];
  missed = 0;
  readonly connection: LegacyConnection;

  constructor(serve: Answer) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const start = Date.now();
    const target = fakeTarget(
      (seen) => {
        if (seen.method === "GET") this.openedAt.push(Date.now() - start);
        return serve(seen);
      },
      { transport: "sse" },
    );
    this.connection = new LegacyConnection({
      ...{ target, unsolicited: PEER, save: () => undefined, saved: SAVED },
      onMissed: () => (this.missed += 1),
      client: { revision: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
    });
  }
}

/** A server whose streams end so long after the handshake. */
function dropsAfter(ms: number): Answer {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  return ({ method, body: { id } }) => {
    if (method === "GET") {
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          controller.enqueue(bytesOf("event: endpoint\ndata: /messages\n\n"));
        },
      });
      return new Response(source, { headers: EVENTS });
    }
    const of = stream;
    if (id === undefined) setTimeout(() => of?.close(), ms);
    else
      of?.enqueue(
        bytesOf(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: handshake })}\n\n`),
      );
    return new Response("Accepted", { status: 202 });
  };
}

describe("a session over HTTP+SSE of an earlier life, in which a client listens", () => {
  test("is opened anew, and something may have been missed", async ({ expect }) => {
    const restored = new Restored(dropsAfter(2 * HOUR_MS));
    await restored.connection.listen(undefined);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(restored.openedAt).toEqual([500]);
    expect(restored.missed).toBeGreaterThan(0);
  });

  test("is left as it is when the client has gone meanwhile", async ({ expect }) => {
    const restored = new Restored(dropsAfter(2 * HOUR_MS));
    await restored.connection.listen(undefined);
    restored.connection.unlisten();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(restored.openedAt).toEqual([]);
  });
});

describe("the pauses between the sessions of a server that ends its stream", () => {
  test("grow where that is soon after the handshake", async ({ expect }) => {
    const { connection, openedAt } = new Restored(dropsAfter(0));
    await connection.listen(undefined);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    const pauses = openedAt.map((at, nth) => at - (openedAt[nth - 1] ?? 0));
    expect(pauses.slice(0, 9).map((ms) => Math.round(ms / 500))).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 128,
    ]);
  });

  test("are short where it was open for long", async ({ expect }) => {
    const { connection, openedAt } = new Restored(dropsAfter(60_000));
    await connection.listen(undefined);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(openedAt.length).toBeGreaterThan(55);
  });
});
