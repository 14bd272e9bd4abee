/** The watch on a session's servers by the Worker that holds the client's stream: what it hands in, and until when. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Endpoint } from "../../../src/endpoint/endpoint.ts";
import { type Server, targetHash } from "../../../src/endpoint/server.ts";
import type { FoundSession } from "../../../src/http/client-session.ts";
import { StandaloneStreamWatch } from "../../../src/http/standalone-stream-watch.ts";
import type { Watched } from "../../../src/sessions/dispatch.ts";
import { fakeServer } from "../endpoint/fake-server.ts";
import { bytesOf, fakeTarget } from "../upstream/fake-target.ts";
import { EVENTS } from "../upstream/legacy/legacy-servers.ts";

const NOTE = { jsonrpc: "2.0", method: "com.example/n" };
/** Longer than everything is tried again. */
const LONG_MS = 60_000;

function endpointWith(server: Server): Endpoint {
  return { servers: [server], isMerged: false, keepsNames: true };
}

class Scene {
  /** What the session's object was sent. */
  readonly handedIn: Watched[] = [];
  /** The key that each request of the server had. */
  readonly keys: (string | null)[] = [];
  /** The sessions whose streams are open at the server. */
  readonly open = new Set<string>();
  /** What the object does with a message, after it has taken it. */
  take: (watched: Watched) => Promise<void> = () => Promise.resolve();
  endpointOfNow: () => Promise<Endpoint | undefined> = () => Promise.resolve(undefined);
  /** How often the watch could not tell the object what it had to. */
  failures = 0;
  /** What the server answers a request for its stream with instead, if anything. */
  refusal: number | undefined;
  readonly watch: StandaloneStreamWatch;
  /** Of the server as it was when the client opened its stream. */
  readonly server: Server;
  readonly #streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();

  constructor() {
    const target = fakeTarget(({ headers, signal }) => {
      const session = headers.get("mcp-session-id") ?? "";
      this.keys.push(headers.get("x-key"));
      if (this.refusal !== undefined) return new Response(null, { status: this.refusal });
      signal?.addEventListener("abort", () => void this.open.delete(session));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void this.#streams.set(session, controller),
      });
      this.open.add(session);
      return new Response(body, { headers: EVENTS });
    });
    this.server = fakeServer("fake", { target });
    const endpoint = endpointWith(this.server);
    const object = {
      receiveWatched: (_claims: string, text: string) => {
        const watched = JSON.parse(text) as Watched;
        this.handedIn.push(watched);
        return this.take(watched);
      },
      upstreamForgotten: fails,
    };
    this.watch = new StandaloneStreamWatch(
      { endpoint, endpointOfNow: () => this.endpointOfNow() },
      { claims: {}, object: () => object } as unknown as FoundSession,
      () => void (this.failures += 1),
    );
  }

  async follow(sessionId: string, hash?: string): Promise<void> {
    const session = {
      revision: "2025-11-25",
      sessionId,
      ...(hash !== undefined && { targetHash: hash }),
    };
    await this.watch.follow({ fake: session });
    await vi.advanceTimersByTimeAsync(1);
  }

  async say(session: string, id: string): Promise<void> {
    const text = `${id}data: ${JSON.stringify(NOTE)}\n\n`;
    this.#streams.get(session)?.enqueue(bytesOf(text));
    await vi.advanceTimersByTimeAsync(1);
  }

  /** How often the object was sent what is not yet known to have arrived. */
  sent(isOne: (watched: Watched) => boolean): number {
    return this.handedIn.filter((watched) => isOne(watched)).length;
  }
}

const fails = (): Promise<never> => Promise.reject(new Error("The object was lost"));
const isMessage = ({ parsed }: Watched): boolean => parsed !== undefined;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("when a watch has ended", () => {
  test("the message that it received last is still handed in, as one that may have arrived", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.follow("s-1");
    scene.take = fails;
    await scene.say("s-1", "id: e1\n");
    scene.watch.stop();
    scene.take = () => Promise.resolve();
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(scene.handedIn.filter((one) => isMessage(one))).toMatchObject([
      { sessionId: "s-1", lastEventId: "e1" },
      { sessionId: "s-1", lastEventId: "e1", isRepeated: true },
    ]);
  });

  test("nothing says any more that it is open", async ({ expect }) => {
    const scene = new Scene();
    scene.take = fails;
    await scene.follow("s-1");
    expect(scene.sent(({ isOpen }) => isOpen === true)).toBe(1);
    scene.watch.stop();
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(scene.handedIn).toHaveLength(1);
  });

  test("a message of it that never arrives does not end the watch that follows", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.follow("s-1");
    scene.take = (watched) => (isMessage(watched) ? fails() : Promise.resolve());
    await scene.say("s-1", "");
    await scene.follow("s-2");
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(scene.sent(isMessage)).toBeGreaterThan(1);
    expect([...scene.open]).toEqual(["s-2"]);
  });
});

describe("a watch that cannot tell the object", () => {
  test("of a message ends, since later ones would leave a gap, and says that it has failed", async ({
    expect,
  }) => {
    const scene = new Scene();
    await scene.follow("s-1");
    scene.take = (watched) => (isMessage(watched) ? fails() : Promise.resolve());
    await scene.say("s-1", "");
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect([[...scene.open], scene.failures]).toEqual([[], 1]);
    // The object goes on after the last event that it has, and there may be none.
    expect(scene.sent(({ hasMissed }) => hasMissed === true)).toBe(1);
  });

  test("that a server has forgotten its session says that it has failed", async ({ expect }) => {
    const scene = new Scene();
    scene.refusal = 404;
    await scene.follow("s-1");
    expect(scene.failures).toBe(1);
  });

  test("of anything says nothing any more when it has ended", async ({ expect }) => {
    const scene = new Scene();
    scene.refusal = 404;
    const following = scene.follow("s-1");
    scene.watch.stop();
    await following;
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(scene.failures).toBe(0);
  });
});

/** The same server with another header. */
function changed({ server }: Scene): Server {
  return { ...server, target: { ...server.target, headers: { "x-key": "another" } } };
}

describe("a server that was changed since the client opened its stream", () => {
  test("is watched as it is now", async ({ expect }) => {
    const scene = new Scene();
    const now = changed(scene);
    scene.endpointOfNow = () => Promise.resolve(endpointWith(now));
    await scene.follow("s-1", await targetHash(scene.server));
    await scene.follow("s-2", await targetHash(now));
    expect([...scene.open]).toEqual(["s-2"]);
    expect(scene.keys).toEqual([null, "another"]);
  });

  test.for(["unknown", "unavailable"])(
    "is sent no session of another, and is left to the session: %s",
    async (what, { expect }) => {
      const scene = new Scene();
      if (what === "unavailable") scene.endpointOfNow = fails;
      await scene.follow("s-1", await targetHash(scene.server));
      await scene.follow("s-2", await targetHash(changed(scene)));
      expect([...scene.open]).toEqual([]);
      expect(scene.keys).toEqual([null]);
      expect(scene.sent(({ isOpen }) => isOpen === true)).toBe(1);
    },
  );

  test("is not watched when the watch has ended meanwhile", async ({ expect }) => {
    const scene = new Scene();
    const now = changed(scene);
    const known = Promise.withResolvers<Endpoint>();
    scene.endpointOfNow = () => known.promise;
    const following = scene.follow("s-1", await targetHash(now));
    scene.watch.stop();
    known.resolve(endpointWith(now));
    await following;
    expect([...scene.open]).toEqual([]);
  });
});
