/** The way from a session to a server: what of it is known again, and what the client told it. */

import { describe, test } from "vitest";

import { serverForSession } from "../../../src/relay/server-for-session.ts";
import type { Peer } from "../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../src/protocol/json-rpc.ts";
import type { Dispatch, Unsolicited } from "../../../src/sessions/dispatch.ts";
import type { SavedConnection } from "../../../src/upstream/legacy/saved-connection.ts";
import type { SavedServer } from "../../../src/upstream/legacy/saved-connection.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { fakeTarget } from "../upstream/fake-target.ts";
import {
  legacyServer,
  type Listing,
  modernServer,
  refusing,
} from "../catalog/read/listing-server.ts";

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
  readonly dispatch: Dispatch;
  readonly saved: SavedServer[];
  readonly legacy: Listing;
  readonly modern: Listing;
  /** What it is from now on. */
  turn: (era: "legacy" | "modern") => void;
  /** What the server was asked since the last time. */
  asked: () => readonly string[];
  /** Of the last request that it was sent. */
  last: () => JsonObject | undefined;
  /** What the client wants to have logged by every server. */
  level: string | undefined;
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
  const unsolicited: Unsolicited = {
    ...{ ...PEER, primed: () => undefined, reopened: () => undefined },
    ...{ lastResumeToken: () => undefined, hasOpenStream: () => false },
  };
  const saves: SavedServer[] = [];
  const world: World = {
    ...{ saved: saves, legacy, modern, level: undefined },
    turn: (era) => {
      serving = era === "legacy" ? legacy : modern;
    },
    asked: () => asked.splice(0),
    last: () => last,
    dispatch: serverForSession({
      target: fakeTarget(
        async (seen) => {
          last = seen.body["params"] as JsonObject | undefined;
          const isStateless = seen.headers.get("mcp-protocol-version") === "2026-07-28";
          const { method } = seen.body;
          // As the official servers of one era refuse what is of the other.
          const isForeign = isStateless === (serving === legacy) && method !== "initialize";
          const response = isForeign
            ? refusing(isStateless ? -32000 : -32022, 400)(seen)
            : await serving.answer(seen);
          asked.push(`${typeof method === "string" ? method : seen.method} ${response.status}`);
          return response;
        },
        { slug: "docs", ...target },
      ),
      ...{ client: CLIENT, unsolicited, saved, save: (state) => void saves.push(state) },
      logLevel: () => world.level,
      subscriptions: () => [],
      hasTasks: true,
      maxTools: 100,
      toolFacts: () => Promise.resolve(undefined),
    }),
  };
  return world;
}

const call = ({ dispatch }: World): Promise<Reply> => dispatch.request(CALL, PEER, never);
const setLevel = ({ dispatch }: World, level: string): Promise<Reply> =>
  dispatch.request({ method: "logging/setLevel", params: { level } }, PEER, never);

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

describe("what is known of a server", () => {
  test.for<{ name: string; saved: SavedServer; era: "legacy" | "modern" }>([
    { name: "that it is modern", saved: { era: "modern" }, era: "modern" },
    { name: "the session there", saved: SAVED, era: "legacy" },
  ])("is not asked for again: $name", async ({ saved, era }, { expect }) => {
    const world = worldOf(era, saved);
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 200"]);
    expect(world.saved).toEqual([]);
  });

  test("is nothing to a server that is configured as modern", async ({ expect }) => {
    const world = worldOf("modern", SAVED, { era: "modern" });
    expect(await call(world)).toEqual({ result: RAN });
    expect(world.asked()).toEqual(["tools/call 200"]);
    expect(world.saved).toEqual([{ era: "modern" }]);
  });

  test("is nothing to a server that is configured as legacy", async ({ expect }) => {
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

  test("is told anew what the client wants to have logged", async ({ expect }) => {
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

describe("what the client told a modern server to log", () => {
  test("is kept, and said with each request", async ({ expect }) => {
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

  test("comes after what it told all servers", async ({ expect }) => {
    const world = worldOf("modern", { era: "modern", logLevel: "error" });
    world.level = "debug";
    await call(world);
    expect(world.last()?.["_meta"]).toMatchObject({ [LEVEL_KEY]: "debug" });
  });
});
