/**
 * A session that uses a server which an operator has added. Its object may come to life while nobody can be
 * asked what was added, and the server may be removed while the session's calls run.
 */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { streamRequest } from "../../../src/http/client-stream.ts";
import { writeClaims } from "../../../src/sessions/session-id.ts";
import { SERVERS_KEY } from "../../../src/upstream/server-key.ts";
import { add, change, configureOnly, remove, startAnewUnasked } from "../added-server.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { claimsOf, loggedIn, objectOf } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { event, progress, sessionOf, streamOf, Upstream } from "../upstream.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const TOKEN = { _meta: { progressToken: "p" } } as const;
setLimits({ quietSeconds: 1 });

beforeAll(async () => configureOnly(await Upstream.take({ server: "legacy" })));

afterEach(() => void vi.restoreAllMocks());

/** A server that an operator has added, and whose call says one thing and then nothing more. */
async function added(): Promise<Upstream> {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "never" })] },
  });
  await add(upstream);
  return upstream;
}

/** @returns a session, and the stream of its running call, on which one message has come. */
async function running({ mcp }: Upstream): Promise<{ session: Session; stream: EventReader }> {
  const session = await Session.open(mcp);
  const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
  await stream.message();
  return { session, stream };
}

describe("a session whose object cannot ask at first what was added", () => {
  test("answers its running call later, on the stream that is read still", async ({ expect }) => {
    const upstream = await added();
    const { session, stream } = await running(upstream);
    const { asked } = await startAnewUnasked();
    // The object is alive now.
    await runDurableObjectAlarm(await objectOf(session));
    asked();
    expect(await stream.message()).toMatchObject({ id: "mine", error: { code: -32603 } });
    expect(await stream.rest()).toEqual([]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    await session.delete();
  });

  test("answers its running call later to a client that comes back", async ({ expect }) => {
    const upstream = await added();
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const first = await stream.next();
    await stream.cancel();
    const { asked } = await startAnewUnasked();
    await runDurableObjectAlarm(await objectOf(session));
    asked();
    const missed = await messagesOf(await session.get({ "Last-Event-ID": first?.id ?? "" }));
    expect(missed).toMatchObject([{ params: { progress: 1 } }, { id: "mine", error: {} }]);
    await session.delete();
  });

  test("answers its running call at one of several servers", async ({ expect }) => {
    const upstream = await added();
    const session = await Session.open("/mcp");
    const name = `${upstream.slug}__work`;
    const stream = new EventReader(await session.callTool(name, TOKEN, "mine"));
    await stream.message();
    const { asked } = await startAnewUnasked();
    await runDurableObjectAlarm(await objectOf(session));
    asked();
    const end = await stream.message();
    expect(end).toMatchObject({ id: "mine", error: { data: { upstream: upstream.slug } } });
    expect(await stream.rest()).toEqual([]);
    await session.delete();
  });

  test("answers its running call by itself, though its client does not come back", async ({
    expect,
  }) => {
    const upstream = await added();
    const { session, stream } = await running(upstream);
    await stream.cancel();
    const { asked } = await startAnewUnasked();
    const before = await loggedIn(session);
    asked();
    const object = await objectOf(session);
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await loggedIn(session)).toBe(before + 1);
    await session.delete();
  });

  test("is neither lost nor unknown meanwhile, and can be ended", async ({ expect }) => {
    const upstream = await added();
    const session = await Session.inUse(upstream.mcp);
    const { asked } = await startAnewUnasked();
    const object = await objectOf(session);
    const claims = writeClaims(await claimsOf(session.id));
    const [answer, message] = [
      await object.receive(claims, PING),
      await object.fetch(streamRequest({ claims: await claimsOf(session.id) })),
    ];
    expect(answer).toMatchObject({ kind: "body", status: 503 });
    // The Worker does not know the path.
    expect((await session.request("ping")).status).toBe(503);
    expect(await message.json()).toEqual(answer);
    await runInDurableObject(object, async (instance) => {
      await expect(instance.receiveWatched(claims, '{"slug":"x"}')).rejects.toThrow(
        "not known yet",
      );
      // Its vault tells it again.
      const ended = { slug: "x", accountId: "a" };
      await expect(instance.accountEnded(ended)).rejects.toThrow("not known yet");
    });
    expect(await object.close(claims)).toBe(true);
    expect(await object.receive(claims, PING)).toEqual({
      kind: "unknown",
    });
    asked();
  });
});

describe("a call that runs while its server is removed", () => {
  test("ends in an error on its stream", async ({ expect }) => {
    const upstream = await added();
    const { session, stream } = await running(upstream);
    await remove(upstream);
    // A request that was let in before it was removed.
    const object = await objectOf(session);
    expect(await object.receive(writeClaims(await claimsOf(session.id)), PING)).toMatchObject({
      status: 503,
    });
    const end = await stream.message();
    expect(end).toMatchObject({ id: "mine", error: { code: -32603 } });
    expect(end.error?.message).toContain("was switched off or removed");
    expect(await stream.rest()).toEqual([]);
  });

  test("ends in an error on the stream of a session of HTTP+SSE, before that closes", async ({
    expect,
  }) => {
    const upstream = await added();
    const session = await SseSession.open(upstream.sse);
    const params = { name: "work", ...TOKEN };
    await session.post({ id: "mine", method: "tools/call", params });
    expect(await session.stream.message()).toMatchObject({ params: { progress: 1 } });
    await remove(upstream);
    expect(await session.stream.message()).toMatchObject({ id: "mine", error: { code: -32603 } });
    expect(await session.stream.rest()).toEqual([]);
  });
});

describe("a session whose endpoint gets its first server that has to know who calls", () => {
  test("goes on, on the streams that it has", async ({ expect }) => {
    await added();
    const session = await Session.inUse("/mcp");
    const stream = await session.listen();
    const old = await SseSession.open("/sse");
    const second = await Upstream.take({ server: "legacy" });
    await add(second, { identity: true });
    expect(await responseIn(await session.request("tools/list"))).toHaveProperty("result");
    await old.post({ id: 7, method: "tools/list" });
    // Its lists have changed as well.
    let message = await old.stream.message();
    while (message.id === undefined) message = await old.stream.message();
    expect(message).toMatchObject({ id: 7, result: {} });
    await stream.cancel();
  });
});

test("a server that is to know who calls is told so, though it was used before that was known", async ({
  expect,
}) => {
  const upstream = await Upstream.take({ server: "legacy" });
  await add(upstream);
  const session = await Session.inUse(upstream.mcp);
  const claims = writeClaims(await claimsOf(session.id));
  await change(upstream, { identity: true });
  // The object learns of the change before it learns who calls.
  const object = await objectOf(session);
  await object.deliver({ slug: SERVERS_KEY, seq: 1, topics: [] });
  const parsed = { kind: "notification", message: { jsonrpc: "2.0", method: "x" } };
  await object.receiveWatched(claims, JSON.stringify({ slug: upstream.slug, parsed }));
  await responseIn(await session.callTool());
  const [call] = await upstream.sent("tools/call");
  expect(call?.headers).toHaveProperty("edgeway-assertion");
  await session.delete();
});

describe("a server that is changed while a client listens to it", () => {
  test("is watched as it is now when the session is quiet again", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    await add(upstream, { headers: { "X-Key": "one" } });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    const keys = async (key: string): Promise<readonly (string | undefined)[]> => {
      const [id] = (await upstream.sent("tools/call"))
        .filter(({ headers }) => headers["x-key"] === key)
        .map(sessionOf);
      const gets = (await upstream.sent("GET")).filter((get) => sessionOf(get) === id);
      return gets.map(({ headers }) => headers["x-key"]);
    };
    for (const key of ["one", "two"]) {
      await change(upstream, { headers: { "X-Key": key } });
      await responseIn(await session.callTool());
      // The session's own, and then that of the Worker which holds the client's stream.
      await until(async () => ((await keys(key)).length === 2 ? true : undefined), "two watches");
      expect(await keys(key)).toEqual([key, key]);
    }
    await stream.cancel();
    await session.delete();
  });
});
