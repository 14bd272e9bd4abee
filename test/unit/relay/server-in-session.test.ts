/** The way from a session to a server: the era that is remembered, and the log level that the client set. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { ServerInSession } from "../../../src/relay/server-in-session.ts";
import { defaultLimits } from "../../../src/policy/limits.ts";
import { keysOf } from "../catalog/lists/merged-world.ts";
import { serverInSession } from "./session-server-fixture.ts";
import type { Peer } from "../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../src/protocol/json-rpc.ts";
import type {
  SavedConnection,
  SavedServer,
} from "../../../src/upstream/legacy/saved-connection.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { failureOf, fakeTarget } from "../upstream/fake-target.ts";
import {
  legacyServer,
  type Listing,
  modernServer,
  refusing,
} from "../catalog/read/listing-server.ts";

const TASKS_SCOPE = {
  ...{ keys: keysOf(1), principal: "ann", route: "/mcp/docs" },
  limits: defaultLimits(),
};
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const CLIENT = { revision: "2025-06-18", capabilities: {}, clientInfo: { name: "c" } } as const;
const CALL = { method: "tools/call", params: { name: "work", arguments: {} } };
const RAN = { content: [{ type: "text", text: "ran" }] };
const PEER: Peer = {
  notify: () => Promise.resolve(),
  ask: () => Promise.resolve({ result: {} }),
};
const never = new AbortController().signal;

const SAVED: SavedConnection = {
  ...{ transport: "streamable-http", sessionId: "session-0", logLevel: undefined },
  handshake: { revision: "2025-06-18", capabilities: { logging: {} }, serverInfo: {} },
};

const METHODS = { "tools/call": RAN, "logging/setLevel": {} };
const LOGGING = { tools: {}, logging: {} };

interface World {
  readonly server: ServerInSession;
  readonly saved: SavedServer[];
  readonly legacy: Listing;
  readonly modern: Listing;
  /** What it is from now on. */
  turn: (era: "legacy" | "modern") => void;
  /** What the server was asked since the last time. */
  asked: () => readonly string[];
  /** Of the last request that it was sent. */
  last: () => JsonObject | undefined;
  /** The client's log level for every server. */
  level: string | undefined;
  /** Holds a request back, or makes it fail, before the server has it. */
  before: (method: unknown) => Promise<void>;
  /** How often each call ran, by its name. */
  readonly ran: Map<string, number>;
  /** How often messages outside a request may have been missed. */
  missed: number;
}

function worldOf(
  first: "legacy" | "modern",
  saved?: SavedServer,
  target: Partial<UpstreamTarget> = {},
): World {
  const legacy = legacyServer(METHODS, LOGGING);
  const modern = modernServer({ ...METHODS, initialize: refusing(-32022, 400) }, LOGGING);
  const asked: string[] = [];
  let serving = first === "legacy" ? legacy : modern;
  let last: JsonObject | undefined;
  const saves: SavedServer[] = [];
  const world: World = {
    ...{ saved: saves, legacy, modern, level: undefined, missed: 0 },
    ...{ before: () => Promise.resolve(), ran: new Map<string, number>() },
    turn: (era) => {
      serving = era === "legacy" ? legacy : modern;
    },
    asked: () => asked.splice(0),
    last: () => last,
    server: serverInSession({
      target: fakeTarget(
        async (seen) => {
          last = seen.body["params"] as JsonObject | undefined;
          const isStateless = seen.headers.get("mcp-protocol-version") === "2026-07-28";
          const { method } = seen.body;
          await world.before(method);
          // As the official servers of one era refuse what is of the other.
          const isForeign = isStateless === (serving === legacy) && method !== "initialize";
          const response = isForeign
            ? refusing(isStateless ? -32000 : -32022, 400)(seen)
            : await serving.answer(seen);
          if (method === "tools/call" && response.ok) {
            const { name } = seen.body["params"] as { readonly name: string };
            world.ran.set(name, (world.ran.get(name) ?? 0) + 1);
          }
          asked.push(`${typeof method === "string" ? method : seen.method} ${response.status}`);
          return response;
        },
        { slug: "docs", ...target },
      ),
      client: CLIENT,
      saved,
      save: (state) => void saves.push(state),
      logLevel: () => world.level,
      onMissed: () => void (world.missed += 1),
      tasksScope: TASKS_SCOPE,
    }),
  };
  return world;
}

const call = ({ server }: World): Promise<Reply> => server.request(CALL, PEER, never);
const setLevel = ({ server }: World, level: string): Promise<Reply> =>
  server.request({ method: "logging/setLevel", params: { level } }, PEER, never);

describe("a server of which nothing is known", () => {
  test("is taken for legacy, and its session is kept", async ({ expect }) => {
    const world = worldOf("legacy");
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual([
      "initialize 200",
      "notifications/initialized 202",
      "tools/call 200",
    ]);
    expect(world.saved).toMatchObject([{ sessionId: "session-1", transport: "streamable-http" }]);
  });

  test("is found to be modern, and that is kept", async ({ expect }) => {
    const world = worldOf("modern");
    expect(await call(world)).toEqual({ result: RAN });
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["initialize 400", "tools/call 200", "tools/call 200"]);
    expect(world.saved).toEqual([{ era: "modern" }]);
  });
});

describe("a server whose session is over", () => {
  test("is not used in the other era, however it answers", async ({ expect }) => {
    const world = worldOf("modern");
    await call(world);
    world.turn("legacy");
    world.asked();
    world.before = () => world.server.close();
    expect(await call(world)).toMatchObject({ error: { data: { reason: "lost" } } });
    expect(world.asked()).toEqual(["tools/call 400", "server/discover 400"]);
    expect(world.saved).toEqual([{ era: "modern" }]);
  });

  test("is not used for a call that comes late", async ({ expect }) => {
    const world = worldOf("legacy");
    await world.server.close();
    expect(await call(world)).toMatchObject({ error: { data: { reason: "lost" } } });
    expect(world.asked()).toEqual([]);
  });
});

describe("the remembered era of a server", () => {
  test.for<{ name: string; saved: SavedServer; era: "legacy" | "modern" }>([
    { name: "that it is modern", saved: { era: "modern" }, era: "modern" },
    { name: "the session there", saved: SAVED, era: "legacy" },
  ])("is not asked for again: $name", async ({ saved, era }, { expect }) => {
    const world = worldOf(era, saved);
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 200"]);
    expect(world.saved).toEqual([]);
  });

  test("is ignored for a server that is configured as modern", async ({ expect }) => {
    const world = worldOf("modern", SAVED, { era: "modern" });
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 200"]);
    expect(world.saved).toEqual([{ era: "modern" }]);
  });

  test("is ignored for a server that is configured as legacy", async ({ expect }) => {
    const world = worldOf("legacy", { era: "modern" }, { era: "legacy" });
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()[0]).toBe("initialize 200");
    expect(world.saved).toMatchObject([{ sessionId: "session-1" }]);
  });
});

describe("a server that changes its era", () => {
  test("is found out by the next call, which runs once", async ({ expect }) => {
    const world = worldOf("legacy");
    await call(world);
    world.asked();
    world.turn("modern");
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 400", "initialize 400", "tools/call 200"]);
    expect(world.saved.at(-1)).toEqual({ era: "modern" });

    world.turn("legacy");
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual([
      ...["tools/call 400", "server/discover 400", "initialize 200"],
      ...["notifications/initialized 202", "tools/call 200"],
    ]);
    expect(world.saved.at(-1)).toMatchObject({ sessionId: "session-1" });

    world.turn("modern");
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.saved.at(-1)).toEqual({ era: "modern" });
  });

  test("announces nothing any more in the session that it had", async ({ expect }) => {
    const world = worldOf("legacy", SAVED);
    await call(world);
    expect(world.missed).toBe(0);
    world.turn("modern");
    await call(world);
    expect(world.missed).toBe(1);
  });

  test("gets the client's log level again", async ({ expect }) => {
    const world = worldOf("legacy");
    await setLevel(world, "warning");
    expect(world.saved.at(-1)).toMatchObject({ sessionId: "session-1", logLevel: "warning" });
    world.turn("modern");
    await call(world);
    expect(world.last()?.["_meta"]).toMatchObject({ [LEVEL_KEY]: "warning" });
    expect(world.saved.at(-1)).toEqual({ era: "modern", logLevel: "warning" });

    await setLevel(world, "alert");
    world.turn("legacy");
    world.asked();
    await call(world);
    expect(world.asked().slice(-2)).toEqual(["logging/setLevel 200", "tools/call 200"]);
    expect(world.legacy.seen.at(-2)?.body["params"]).toEqual({ level: "alert" });
    expect(world.saved.at(-1)).toMatchObject({ sessionId: "session-1", logLevel: "alert" });
  });
});

describe("the client's log level for a modern server", () => {
  test("is kept, and sent with each request", async ({ expect }) => {
    const world = worldOf("modern", { era: "modern" });
    await call(world);
    expect(world.last()?.["_meta"]).not.toHaveProperty([LEVEL_KEY]);
    expect(await setLevel(world, "error")).toEqual({ result: {} });
    expect(world.saved).toEqual([{ era: "modern", logLevel: "error" }]);
    await call(world);
    expect(world.last()?.["_meta"]).toMatchObject({ [LEVEL_KEY]: "error" });
    expect(world.asked()).toEqual(["tools/call 200", "tools/call 200"]);
  });

  test("is known in another life of the session's holder", async ({ expect }) => {
    const world = worldOf("modern", { era: "modern", logLevel: "error" });
    await call(world);
    expect(world.last()?.["_meta"]).toMatchObject({ [LEVEL_KEY]: "error" });
  });

  test("comes after the level for all servers", async ({ expect }) => {
    const world = worldOf("modern", { era: "modern", logLevel: "error" });
    world.level = "debug";
    await call(world);
    expect(world.last()?.["_meta"]).toMatchObject({ [LEVEL_KEY]: "debug" });
  });
});

const callsOf = (asked: readonly string[]): readonly string[] =>
  asked.filter((request) => request.startsWith("tools/call"));

describe("the other era", () => {
  test("is found out once by calls that are made together", async ({ expect }) => {
    const world = worldOf("modern");
    const replies = await Promise.all([call(world), call(world), call(world)]);
    expect(replies).toEqual([{ result: RAN }, { result: RAN }, { result: RAN }]);
    const asked = world.asked();
    expect(asked.filter((request) => request === "initialize 400")).toHaveLength(1);
    expect(callsOf(asked)).toEqual(Array(3).fill("tools/call 200"));
    expect(world.saved).toEqual([{ era: "modern" }]);
  });

  test("is used by later calls, while one that is under way is not made again", async ({
    expect,
  }) => {
    const world = worldOf("legacy", SAVED);
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    world.before = (method) => (method === "tools/call" ? slow : Promise.resolve());
    const first = call(world);
    await Promise.resolve();
    world.before = () => Promise.resolve();
    world.turn("modern");
    expect(await call(world)).toEqual({ result: RAN });
    // The server still has the session of the call that is under way.
    world.turn("legacy");
    resolve();
    expect(await first).toEqual({ result: RAN });
    expect(world.ran.get("work")).toBe(2);
  });

  test("is one session for calls that find out late", async ({ expect }) => {
    const world = worldOf("legacy", { era: "modern" });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    let count = 0;
    world.before = (method) =>
      method === "tools/call" && count++ === 0 ? late : Promise.resolve();
    const first = call(world);
    await expect.poll(() => count).toBe(1);
    expect(await call(world)).toEqual({ result: RAN });
    const { session } = world.server;
    expect(session).toBeDefined();
    resolve();
    expect(await first).toEqual({ result: RAN });
    expect(world.server.session).toBe(session);
  });

  test.for(["listen", "watched"] as const)("is found out by %s", async (what, { expect }) => {
    const world = worldOf("modern");
    expect(await world.server[what](undefined)).toBeUndefined();
    expect(world.server.session).toBeUndefined();
    world.asked();
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 200"]);
  });

  test("is tried again by the next call, where a server refuses both", async ({ expect }) => {
    const world = worldOf("modern", { era: "modern" });
    const refused = { error: { data: { upstream: "docs", reason: "other-era" } } };
    // It refuses every call as one of the other era, and every handshake as modern-only.
    world.before = (method) =>
      Promise.resolve(world.turn(method === "initialize" ? "modern" : "legacy"));
    expect(await call(world)).toMatchObject(refused);
    expect(world.ran.size).toBe(0);
    world.before = () => Promise.resolve(world.turn("modern"));
    expect(await call(world)).toEqual({ result: RAN });
  });

  test("does not exist where the operator has configured one", async ({ expect }) => {
    const world = worldOf("modern", undefined, { era: "legacy" });
    expect(await call(world)).toMatchObject({ error: { data: { upstream: "docs" } } });
    await world.server.listen(undefined);
    expect(world.asked().every((request) => request.startsWith("initialize"))).toBe(true);
    expect(world.server.session).toBeDefined();
  });
});

const down = (): Promise<void> => Promise.reject(new TypeError("down"));

describe("a server that cannot be reached", () => {
  test("is an error reply, and keeps its era", async ({ expect }) => {
    const world = worldOf("legacy", SAVED);
    world.before = down;
    expect(await call(world)).toMatchObject({ error: { data: { reason: "unreachable" } } });
    expect(world.server.session).toBeDefined();
    expect(world.saved).toEqual([]);
  });

  test("cannot be watched, and reports it", async ({ expect }) => {
    const world = worldOf("legacy");
    world.before = down;
    expect(await failureOf(world.server.watched(undefined))).toMatchObject({
      failure: "unreachable",
    });
    // Listening waits for the next call.
    expect(await failureOf(world.server.listen(undefined))).toBeUndefined();
  });
});

test.for(["legacy", "modern"] as const)(
  "a call that is cancelled ends with its reason, in the %s era",
  async (era, { expect }) => {
    const cancelled = new Error("cancelled");
    const controller = new AbortController();
    const world = worldOf(era, era === "legacy" ? SAVED : { era });
    world.before = (method) => {
      if (method === "tools/call") controller.abort(cancelled);
      return Promise.resolve();
    };
    const reply = world.server.request(CALL, PEER, controller.signal);
    expect(await failureOf(reply)).toBe(cancelled);
  },
);

test("a call runs once or not at all, however often the server changes its era", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<"legacy" | "modern">("legacy", "modern"), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.integer({ min: 1, max: 6 }),
      fc.scheduler(),
      async (eras, count, scheduler) => {
        const world = worldOf("legacy");
        let visits = 0;
        world.before = async () => {
          await scheduler.schedule(Promise.resolve());
          world.turn(eras[visits++ % eras.length] ?? "legacy");
        };
        const replies = Array.from({ length: count }, (_, n) =>
          world.server.request(
            { method: "tools/call", params: { name: `call ${n}`, arguments: {} } },
            PEER,
            never,
          ),
        );
        await scheduler.waitFor(Promise.all(replies));
        for (const [n, pending] of replies.entries()) {
          const reply = await pending;
          expect(world.ran.get(`call ${n}`) ?? 0).toBe("result" in reply ? 1 : 0);
        }
      },
    ),
    { numRuns: 60 },
  );
});
