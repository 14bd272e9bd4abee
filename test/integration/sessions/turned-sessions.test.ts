/**
 * A legacy session whose only server speaks 2026-07-28 alone: what was found out of it, and what the
 * client told it, outlives the session's holder; and news of it come as those of any other.
 */

import { describe, test } from "vitest";

import type { Json, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { MODERN, Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { changed, LISTS, promised, resourceful, subscribe, updated } from "../merged-session.ts";
import { wanted } from "../news.ts";
import { evict, WAYS_TO_LOSE } from "../session-object.ts";
import { sessionOf, Upstream } from "../upstream.ts";

const LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const URI = "file:///docs/1";
const RAN = { content: [{ type: "text", text: "ran work" }] };

const MODERN_ONLY: Script = resourceful("docs", { server: "modern" });
const LEGACY_ONLY: Script = resourceful("docs");

const call = async (session: Session): Promise<Message> => responseIn(await session.callTool());
const setLevel = async (session: Session, level: string): Promise<Message> =>
  responseIn(await session.request("logging/setLevel", { level }));

/** How often a server was asked what it is. */
async function probes(upstream: Upstream): Promise<number> {
  const asked = await Promise.all(["initialize", "server/discover"].map((m) => upstream.sent(m)));
  return asked.flat().length;
}

/** Of the calls that ran. */
async function runs(upstream: Upstream): Promise<readonly Recorded[]> {
  return (await upstream.sent("tools/call")).filter(({ status }) => status === 200);
}

function metaOf(record: Recorded | undefined): Json {
  return (record?.body?.params?.["_meta"] ?? {}) as Json;
}

describe.for(WAYS_TO_LOSE)("of a session whose object $name", ({ lose }) => {
  test("the server is not asked again what it is", async ({ expect }) => {
    const upstream = await Upstream.take(MODERN_ONLY);
    const session = await Session.open(upstream.mcp);
    expect((await call(session)).result).toEqual(RAN);
    const before = await probes(upstream);
    for (let n = 0; n < 2; n++) {
      await lose(session);
      expect((await call(session)).result).toEqual(RAN);
    }
    expect(await probes(upstream)).toBe(before);
    expect(await runs(upstream)).toHaveLength(3);
  });

  test("the log level is sent with each request", async ({ expect }) => {
    const upstream = await Upstream.take(MODERN_ONLY);
    const session = await Session.open(upstream.mcp);
    await call(session);
    expect(await setLevel(session, "warning")).toMatchObject({ result: {} });
    await call(session);
    await lose(session);
    await call(session);
    expect((await runs(upstream)).map((run) => metaOf(run)[LEVEL_KEY])).toEqual([
      ...[undefined, "warning", "warning"],
    ]);
    expect((await setLevel(session, "loud")).error?.code).toBe(-32602);
    expect(await upstream.sent("logging/setLevel")).toEqual([]);
  });

  test("a change of the server's era is detected, and the call runs once", async ({ expect }) => {
    const upstream = await Upstream.take(LEGACY_ONLY);
    const session = await Session.open(upstream.mcp);
    await call(session);
    await setLevel(session, "alert");
    for (const [n, script] of [MODERN_ONLY, LEGACY_ONLY, MODERN_ONLY].entries()) {
      await upstream.script(script);
      await lose(session);
      expect((await call(session)).result).toEqual(RAN);
      await lose(session);
      expect((await call(session)).result).toEqual(RAN);
      const ran = await runs(upstream);
      expect(ran).toHaveLength(2 * n + 3);
      const isModern = script === MODERN_ONLY;
      for (const run of ran.slice(-2)) {
        expect(run.headers["mcp-protocol-version"] === MODERN).toBe(isModern);
        expect(metaOf(run)[LEVEL_KEY]).toBe(isModern ? "alert" : undefined);
      }
    }
    // To the session that was opened when it was of the older era again.
    const levels = await upstream.sent("logging/setLevel");
    expect(levels.map(({ body }) => body?.params?.["level"])).toEqual(["alert", "alert"]);
  });
});

describe("a client that listens is notified of the lists and resources of the server", () => {
  /** @param at where the news come from. */
  async function received(
    session: Session,
    upstream: Upstream,
    lose?: typeof evict,
  ): Promise<unknown> {
    const stream = await session.listen();
    await promised(session, upstream);
    const { error } = await subscribe(session, URI);
    if (error !== undefined) throw new Error(error.message);
    await wanted(upstream, LISTS.length + 1);
    const news: unknown[] = [];
    for (const each of [changed("tools"), updated(URI), changed("prompts")]) {
      await lose?.(session);
      await upstream.tell(each);
      const { method, params } = await stream.message();
      news.push([method, params?.["uri"]]);
    }
    await stream.silence();
    await stream.cancel();
    return news;
  }
  const RECEIVED = [
    ["notifications/tools/list_changed", undefined],
    ["notifications/resources/updated", URI],
    ["notifications/prompts/list_changed", undefined],
  ];

  test.for<{ name: string; isUsed: boolean; lose?: typeof evict }>([
    { name: "that it has called before", isUsed: true },
    { name: "that it has not called yet", isUsed: false },
    { name: "though its session's object is let go each time", isUsed: true, lose: evict },
    { name: "not called yet, and the object is let go", isUsed: false, lose: evict },
  ])("$name", async ({ isUsed, lose }, { expect }) => {
    const upstream = await Upstream.take(MODERN_ONLY);
    const session = await Session.open(upstream.mcp);
    if (isUsed) await call(session);
    expect(await received(session, upstream, lose)).toEqual(RECEIVED);
    // One stream for all who listen, and it is the feed's.
    const open = (await upstream.sent("subscriptions/listen")).filter(({ isCutOff }) => !isCutOff);
    expect(open).toHaveLength(1);
    expect(await upstream.sent("resources/subscribe")).toEqual([]);
    expect(await upstream.sent("GET")).toEqual([]);
  });

  test("that is found to be modern while it listens", async ({ expect }) => {
    const upstream = await Upstream.take(LEGACY_ONLY);
    const session = await Session.open(upstream.mcp);
    await call(session);
    const stream = await session.listen();
    await upstream.tell(changed("tools"));
    expect(await stream.message()).toMatchObject(changed("tools"));
    await upstream.script(MODERN_ONLY);
    await upstream.forget();
    expect((await call(session)).result).toEqual(RAN);
    await promised(session, upstream);
    await upstream.tell(changed("prompts"));
    expect(await stream.message()).toMatchObject(changed("prompts"));
    await stream.silence();
    await stream.cancel();
  });

  test("that is found to be legacy again while it listens", async ({ expect }) => {
    const upstream = await Upstream.take(MODERN_ONLY);
    const session = await Session.open(upstream.mcp);
    await call(session);
    const stream = await session.listen();
    await promised(session, upstream);
    await upstream.script(LEGACY_ONLY);
    await upstream.hangUp();
    expect((await call(session)).result).toEqual(RAN);
    const [own] = (await runs(upstream)).slice(-1);
    // In the session that the client has there now.
    const isListened = async (): Promise<boolean | undefined> =>
      (await upstream.sent("GET")).some((get) => own && sessionOf(get) === sessionOf(own)) ||
      undefined;
    await until(isListened, "the session's stream");
    await upstream.tell({ method: "notifications/message", params: { level: "info", data: 1 } });
    // What was missed while it was modern may have changed, which is announced as well.
    let method: string | undefined;
    do ({ method } = await stream.message());
    while (method?.endsWith("/list_changed"));
    expect(method).toBe("notifications/message");
    await stream.cancel();
  });
});
