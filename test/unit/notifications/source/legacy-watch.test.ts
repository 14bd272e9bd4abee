/** A legacy server without session ids: all who ask share its subscriptions, which it forgets when it restarts. */

import { test } from "vitest";

import type { Topic } from "../../../../src/catalog/feeds.ts";
import { WatchManager } from "../../../../src/notifications/source/watch-manager.ts";
import { until } from "../../../support/until.ts";
import { withSql } from "../../lib/sql-fixture.ts";
import { fakeTarget, json } from "../../upstream/fake-target.ts";

const A = "uri:file:///a";
const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true } };

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly uri: string };
}

class Server {
  readonly #subscribed = new Set<string>();
  /** The ends of subscriptions are on their way until the next subscription has arrived. */
  #resubscribed = Promise.withResolvers<void>();
  #stream: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly target = fakeTarget(
    ({ method, body }) => {
      if (method === "GET") return this.#listen();
      return method === "POST" ? this.#answer(body as unknown as Asked) : json({}, { status: 405 });
    },
    { era: "legacy", transport: "streamable-http" },
  );

  change(uri: string): void {
    if (!this.#subscribed.has(uri)) return;
    const method = "notifications/resources/updated";
    this.#send(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { uri } })}\n\n`);
  }

  restart(): void {
    this.#subscribed.clear();
    this.#stream?.close().catch(() => undefined);
  }

  #send(text: string): void {
    this.#stream?.write(new TextEncoder().encode(text)).catch(() => undefined);
  }

  #listen(): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#stream = writable.getWriter();
    this.#send("retry: 0\n\n");
    return new Response(readable, { headers: { "Content-Type": "text/event-stream" } });
  }

  async #answer({ id, method, params }: Asked): Promise<Response> {
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === "resources/unsubscribe") {
      await this.#resubscribed.promise;
      this.#subscribed.delete(params.uri);
    }
    if (method === "resources/subscribe") {
      this.#subscribed.add(params.uri);
      this.#resubscribed.resolve();
      this.#resubscribed = Promise.withResolvers();
    }
    const result =
      method === "initialize"
        ? {
            protocolVersion: "2025-11-25",
            serverInfo: { name: "s", version: "1" },
            capabilities: CAPABILITIES,
          }
        : {};
    return json({ jsonrpc: "2.0", id, result });
  }
}

function withManager(
  act: (manager: WatchManager, server: Server, published: Topic[]) => Promise<void>,
): Promise<void> {
  return withSql(async ({ sql }) => {
    const server = new Server();
    const published: Topic[] = [];
    const manager = new WatchManager({
      ...{ target: server.target, sql, now: Date.now },
      limits: { subscribedUrisPerServer: 100, newsMilliseconds: 10 },
      events: {
        publish: (_branch, { topics }) => Promise.resolve(void published.push(...topics)),
        outdated: () => undefined,
      },
    });
    await act(manager, server, published);
    await manager.end();
  });
}

test("what was promised is announced after a restart, and subscribed to anew", async ({
  expect,
}) => {
  await withManager(async (manager, server, published) => {
    expect(await manager.watch(0, { add: ["tools", A], remove: [] })).toEqual(["tools", A]);
    server.restart();
    await until(() => published.includes("tools") && published.includes(A), "the announcement");
    published.length = 0;
    server.change("file:///a");
    await until(() => published.includes(A), "the update");
  });
});

test("what is wanted again is not taken away by an end of its subscription that comes late", async ({
  expect,
}) => {
  await withManager(async (manager, server, published) => {
    const topics = ["tools", A] as const;
    await manager.watch(0, { add: topics, remove: [] });
    await manager.watch(0, { add: [], remove: topics });
    expect(await manager.watch(0, { add: topics, remove: [] })).toEqual(topics);
    published.length = 0;
    server.change("file:///a");
    await until(() => published.includes(A), "the update");
  });
});
