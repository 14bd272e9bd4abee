/**
 * The notifications of a legacy session come from the feeds: a server has one subscription however many
 * clients subscribe to a resource, and each of them is notified once.
 */

import { beforeAll, describe, test } from "vitest";

import { writeClaims } from "../../../src/sessions/session-id.ts";
import { Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import {
  changed,
  clientsOwn,
  LISTS,
  MERGED,
  promised,
  resourceful,
  subscribe,
  updated,
} from "../merged-session.ts";
import { wantedAfterAll } from "../news.ts";
import { setLimits } from "../own-limits.ts";
import { claimsOf, objectOf } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const MAX_URIS = 3;

let first: Upstream;
let second: Upstream;
let mute: Upstream;

beforeAll(async () => {
  setLimits({ subscribedUrisPerClient: MAX_URIS });
  const silence = { capabilities: { tools: {}, resources: {}, logging: {} } };
  const taken = await takeSeveral([
    { script: resourceful("first") },
    { script: resourceful("second"), entry: { resources: { deny: ["file:///second/2"] } } },
    { script: resourceful("mute", silence) },
  ]);
  [first, second, mute] = taken as [Upstream, Upstream, Upstream];
});

function unsubscribe(session: Session, uri: string): Promise<Message> {
  return session.request("resources/unsubscribe", { uri }, 6).then(responseIn);
}

async function countOf(upstream: Upstream, method: string): Promise<number> {
  return (await upstream.sent(method)).length;
}

describe("a subscription where several servers meet", () => {
  test("is one at its server, for all clients, and each client is notified once", async ({
    expect,
  }) => {
    const before = await countOf(first, "resources/subscribe");
    const sessions = [await Session.open(MERGED.mcp), await Session.open(MERGED.mcp)];
    const streams = await Promise.all(sessions.map((session) => session.listen()));
    for (const session of sessions) {
      const answer = await subscribe(session, "file:///first/1");
      const result = { _meta: { "edgeway/server": first.slug } };
      expect(answer).toEqual({ jsonrpc: "2.0", id: 5, result });
    }
    expect(await countOf(first, "resources/subscribe")).toBe(before + 1);
    await first.send(updated("file:///first/1"));
    for (const stream of streams) {
      expect(await stream.message()).toMatchObject(updated("file:///first/1"));
      await stream.silence();
    }
    // None of it took a session of the client's own.
    expect(await clientsOwn(first)).toEqual([]);
    for (const stream of streams) await stream.cancel();
    for (const session of sessions) await (await session.delete()).text();
  });

  test("is refused with a reason", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const untold = await subscribe(session, "file:///mute/1");
    expect(untold.error).toMatchObject({ code: -32602, data: { uri: "file:///mute/1" } });
    expect(untold.error?.message).toContain(`"${mute.slug}"`);
    const unknown = await subscribe(session, "file:///second/9");
    const denied = await subscribe(session, "file:///second/2");
    expect(unknown.error).toMatchObject({ code: -32002, data: { uri: "file:///second/9" } });
    expect(JSON.stringify(denied.error)).toBe(
      JSON.stringify(unknown.error).replace("second/9", "second/2"),
    );
    expect((await subscribe(session, 7)).error?.code).toBe(-32602);
    expect(await countOf(mute, "resources/subscribe")).toBe(0);
  });

  test("ends, and may end before it began", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await subscribe(session, "file:///first/1");
    await subscribe(session, "file:///first/2");
    const named = { _meta: { "edgeway/server": first.slug } };
    for (const [uri, result] of [
      ["file:///first/1", named],
      ["file:///first/1", {}],
      ["never:/there", {}],
    ] as const) {
      expect(await unsubscribe(session, uri)).toEqual({ jsonrpc: "2.0", id: 6, result });
    }
    await first.send(updated("file:///first/1"));
    await first.send(updated("file:///first/2"));
    expect(await stream.message()).toMatchObject(updated("file:///first/2"));
    await stream.silence();
    await stream.cancel();
    await (await session.delete()).text();
  });
});

describe("a client", () => {
  test("has a limit of subscriptions, and room again when it ends one", async ({ expect }) => {
    const session = await Session.open(first.mcp);
    for (let n = 0; n < MAX_URIS; n++) {
      expect(await subscribe(session, `file:///first/${n}`)).toHaveProperty("result");
    }
    expect(await subscribe(session, "file:///first/0")).toHaveProperty("result");
    const { error } = await subscribe(session, "file:///first/9");
    expect(error).toMatchObject({ code: -32602, data: { uri: "file:///first/9" } });
    expect(error?.message).toContain(String(MAX_URIS));
    await unsubscribe(session, "file:///first/0");
    expect(await subscribe(session, "file:///first/9")).toHaveProperty("result");
    await (await session.delete()).text();
  });

  test("that listens is notified of all lists of servers that it never called", async ({
    expect,
  }) => {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await promised(session, first, second);
    for (const upstream of [first, second]) {
      for (const list of LISTS) {
        await upstream.send(changed(list));
        expect(await stream.message()).toMatchObject(changed(list));
      }
    }
    await stream.silence();
    await stream.cancel();
    await (await session.delete()).text();
  });

  test("is notified once of a change that reaches it in two ways", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    for (const { slug } of [first, mute]) await responseIn(await session.callTool(`${slug}__work`));
    const stream = await session.listen();
    await promised(session, first);
    // What its own sessions with the servers say: one of these servers tells nobody else.
    const claims = await claimsOf(session.id);
    const tell = async (upstream: Upstream, method: string, id: string): Promise<void> => {
      const parsed = { kind: "notification", message: { jsonrpc: "2.0", method } } as const;
      await (
        await objectOf(session)
      ).receiveWatched(
        writeClaims(claims),
        JSON.stringify({ slug: upstream.slug, parsed, lastEventId: id }),
      );
    };
    await tell(first, "notifications/tools/list_changed", "1");
    await tell(mute, "notifications/tools/list_changed", "2");
    await tell(first, "notifications/other", "3");
    expect(await stream.message()).toMatchObject(changed("tools"));
    expect(await stream.message()).toMatchObject({ method: "notifications/other" });
    await stream.cancel();
    await (await session.delete()).text();
  });

  test("that ends its session wants nothing any more", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await subscribe(session, "file:///second/1");
    await stream.cancel();
    const object = await objectOf(session);
    const news = { slug: second.slug, seq: 1e9, topics: ["tools" as const] };
    expect(await object.deliver(news)).toBe("taken");
    await (await session.delete()).text();
    expect(await object.deliver({ ...news, seq: 2e9 })).toBe("gone");
    const unknown = await Session.open(MERGED.mcp);
    expect(await (await objectOf(unknown)).deliver(news)).toBe("gone");
    await wantedAfterAll(second, 0);
  });
});
