/** A modern server that refuses a whole listen for one URI: the others do not suffer for it. */

import { afterEach, describe, test, vi } from "vitest";

import { ModernWatch } from "../../../../src/notifications/source/modern-watch.ts";
import { topicOf } from "../../../../src/catalog/topics.ts";
import { ErrorCode } from "../../../../src/protocol/error-codes.ts";
import { until } from "../../../support/until.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";

interface Asked {
  readonly id: number;
  readonly params: { readonly notifications: { readonly resourceSubscriptions?: string[] } };
}

class Server {
  readonly bad = new Set<string>();
  /** Every listen gets this error. */
  trouble: number | undefined;
  listens = 0;
  /** Called once the watch waits for an answer. */
  onListen: () => void = () => undefined;
  readonly #target = fakeTarget(async ({ body }) => {
    const { id, params } = body as unknown as Asked;
    this.listens += 1;
    await Promise.resolve();
    this.onListen();
    const { notifications } = params;
    const isBad = notifications.resourceSubscriptions?.some((uri) => this.bad.has(uri)) === true;
    const code = this.trouble ?? (isBad ? ErrorCode.InvalidParams : undefined);
    if (code !== undefined) {
      const error = { code, message: "No such resource" };
      return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
    }
    const method = "notifications/subscriptions/acknowledged";
    const message = { jsonrpc: "2.0", method, params: { notifications } };
    const stream = new ReadableStream({
      start: (controller) =>
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`)),
    });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
  });

  watch(uris: ReadonlySet<string>): ModernWatch {
    return new ModernWatch(
      {
        target: { ...this.#target, era: "modern" },
        uris,
      },
      {
        changed: () => undefined,
        outdated: () => undefined,
        updated: () => undefined,
        answered: () => undefined,
        missed: () => undefined,
        ended: () => undefined,
      },
    );
  }
}

afterEach(() => {
  vi.useRealTimers();
});

/** Those that have a verdict. */
function answered(watch: ModernWatch, uris: Iterable<string>): readonly (boolean | "failed")[] {
  return [...uris]
    .map((uri) => watch.verdict(topicOf(uri)))
    .filter((verdict) => verdict !== undefined);
}

describe("a server that refuses all for one", () => {
  test("is found to refuse just that one, and is asked for it again", async ({ expect }) => {
    const uris = new Set(Array.from({ length: 100 }, (_, n) => `file:///${n}`));
    const server = new Server();
    server.bad.add("file:///37").add("file:///38");
    const watch = server.watch(uris);
    await until(() => answered(watch, uris).length === 100, "there is a verdict on each");
    for (const uri of uris) expect(watch.verdict(topicOf(uri))).toBe(!server.bad.has(uri));
    expect(server.listens).toBeLessThan(40);
    server.bad.clear();
    watch.retry(false);
    await until(() => watch.verdict("uri:file:///37") === true, "it is there");
    watch.retry(false);
    await until(() => watch.verdict("uri:file:///38") === true, "the other is there");
    expect(answered(watch, uris)).not.toContain(false);
    await watch.close();
  });

  test("is found when it comes later, and takes none of the acknowledged ones away", async ({
    expect,
  }) => {
    const uris = new Set(["file:///a"]);
    const server = new Server();
    server.bad.add("file:///gone");
    const watch = server.watch(uris);
    await until(() => watch.verdict("uri:file:///a") === true, "it stands");
    uris.add("file:///gone").add("file:///b");
    watch.revise();
    await until(() => watch.verdict("uri:file:///b") === true, "the good one is told of");
    await until(() => watch.verdict("uri:file:///gone") === false, "the bad one is not");
    expect(watch.verdict("uri:file:///a")).toBe(true);
    await watch.close();
  });

  test("is asked for what came to be wanted while it refused", async ({ expect }) => {
    const uris = new Set(["file:///a"]);
    const server = new Server();
    server.bad.add("file:///gone");
    const watch = server.watch(uris);
    await until(() => watch.verdict("uri:file:///a") === true, "it stands");
    server.onListen = () => {
      if (uris.has("file:///b")) return;
      uris.add("file:///b");
      watch.revise();
    };
    uris.add("file:///gone");
    watch.revise();
    await until(() => watch.verdict("uri:file:///b") === true, "the good one is told of");
    expect(watch.verdict("uri:file:///gone")).toBe(false);
    await watch.close();
  });

  test("for many is not asked without end", async ({ expect }) => {
    const uris = new Set(Array.from({ length: 500 }, (_, n) => `file:///${n}`));
    const server = new Server();
    for (const uri of uris) server.bad.add(uri);
    const watch = server.watch(uris);
    await until(() => answered(watch, uris).length === 500, "there is a verdict on each");
    expect(answered(watch, uris)).not.toContain(true);
    expect(server.listens).toBeLessThan(70);
    await watch.close();
  });
});

test.for([
  { how: "refuses", code: ErrorCode.InvalidParams },
  { how: "fails at", code: ErrorCode.InternalError },
])(
  "a server that $how every new stream is asked for fewer resources once, until it is to be tried again",
  async ({ code }, { expect }) => {
    const uris = new Set(["file:///a", "file:///b"]);
    const server = new Server();
    const watch = server.watch(uris);
    await until(() => answered(watch, uris).length === 2, "it stands");
    vi.useFakeTimers();
    server.trouble = code;
    const asked = async (act: () => void): Promise<number> => {
      const before = server.listens;
      act();
      await vi.advanceTimersByTimeAsync(10_000);
      return server.listens - before;
    };
    uris.delete("file:///b");
    expect(await asked(() => watch.revise())).toBe(1);
    expect(await asked(() => watch.retry(false))).toBe(1);
    // With one more, and then without that.
    uris.add("file:///c");
    expect(await asked(() => watch.revise())).toBe(2);
    server.trouble = undefined;
    expect(await asked(() => watch.retry(false))).toBe(1);
    expect(watch.verdict("uri:file:///c")).toBe(true);
    await watch.close();
  },
);
