/**
 * A server of both eras whose newer face does not announce resources: a legacy session, whose handshake said
 * that it can subscribe, is subscribed in its own legacy session with the server.
 */

import { beforeAll, describe, test } from "vitest";

import type { Script } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS } from "../bounded.ts";
import { Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { clientsOwn, MERGED, resourceful, subscribe, updated } from "../merged-session.ts";
import { evict } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import { EVENT_STREAM, event, sessionOf, type Upstream } from "../upstream.ts";

const CAPABILITIES = { tools: {}, resources: { subscribe: true } };
const REFUSED = "file:///refused";
/** Lists it tells of, and of no resource. */
const ACKNOWLEDGED = {
  method: "notifications/subscriptions/acknowledged",
  params: { notifications: { toolsListChanged: true } },
};
const DUAL = resourceful("dual", {
  ...{ server: "dual", capabilities: CAPABILITIES },
  reactions: {
    "subscriptions/listen": [
      { headers: EVENT_STREAM, pieces: [event(ACKNOWLEDGED)], end: "never", isLasting: true },
    ],
  } satisfies Script["reactions"],
});

let upstreams: readonly [Upstream, Upstream];

beforeAll(async () => {
  const script = resourceful("plain", { capabilities: { tools: {} } });
  upstreams = (await takeSeveral([{ script: DUAL }, { script }])) as [Upstream, Upstream];
});

describe.for([
  { where: "where several servers meet", path: () => MERGED.mcp },
  { where: "at its own endpoint", path: () => upstreams[0].mcp },
])("$where", ({ path }) => {
  const uris = ["file:///dual/1", "file:///dual/2"] as const;

  test("what initialize says of subscriptions is true", async ({ expect }) => {
    const [dual] = upstreams;
    const session = await Session.open(path());
    expect(session.opening?.result?.["capabilities"]).toMatchObject({
      resources: { subscribe: true },
    });
    const stream = await session.listen();
    for (const uri of uris) expect(await subscribe(session, uri)).toMatchObject({ result: {} });
    const own = (await clientsOwn(dual)).filter(
      ({ body }) => body?.method === "resources/subscribe",
    );
    expect(own.slice(-2).map(({ body }) => body?.params?.["uri"])).toEqual(uris);
    await dual.tell(updated(uris[0]));
    expect(await stream.message()).toMatchObject(updated(uris[0]));
    // Once, and nothing that nobody asked for.
    await dual.tell(updated("file:///dual/3"));
    await dual.tell(updated(uris[1]));
    expect(await stream.message()).toMatchObject(updated(uris[1]));
    await responseIn(await session.request("resources/unsubscribe", { uri: uris[0] }));
    const left = await dual.receives("resources/unsubscribe");
    expect(left.at(-1)?.body?.params).toMatchObject({ uri: uris[0] });
    await stream.cancel();
    await (await session.delete()).text();
  });

  test("a session whose object was evicted is notified as well", async ({ expect }) => {
    const [dual] = upstreams;
    const session = await Session.open(path());
    expect(await subscribe(session, uris[0])).toMatchObject({ result: {} });
    await evict(session);
    const stream = await session.listen();
    await dual.tell(updated(uris[0]));
    expect(await stream.message()).toMatchObject(updated(uris[0]));
    await stream.cancel();
    await (await session.delete()).text();
  });

  test.for([
    { holder: "the session's object", isAsleep: false },
    { holder: "the Worker of the client's stream", isAsleep: true },
  ])(
    "a change between two streams of the server to $holder is not missed",
    async ({ isAsleep }, { expect }) => {
      const [dual] = upstreams;
      const session = await Session.open(path());
      const stream = await session.listen();
      expect(await subscribe(session, uris[0])).toMatchObject({ result: {} });
      // The newest session may be one of the feed's.
      const subscribed = (await dual.sent("resources/subscribe")).at(-1);
      const own = subscribed && sessionOf(subscribed);
      const streams = async (): Promise<number> =>
        (await dual.sent("GET")).filter((sent) => sessionOf(sent) === own).length;
      // The second is the Worker's, when the session has been quiet.
      await expect.poll(streams, { timeout: PATIENCE_MS }).toBe(isAsleep ? 2 : 1);
      if (isAsleep) await evict(session);
      await dual.hangUp();
      // The feed, whose stream broke as well, announces lists.
      let told: unknown;
      do told = await stream.message();
      while ((told as { method: string }).method.endsWith("/list_changed"));
      expect(told).toMatchObject(updated(uris[0]));
      await stream.cancel();
      await (await session.delete()).text();
    },
  );
});

test("what the server refuses in its own session too is refused", async ({ expect }) => {
  const [dual] = upstreams;
  const { reactions = {} } = DUAL;
  const error = { code: -32602, message: "No" };
  const refusal = { headers: { "Content-Type": "application/json" }, isLasting: true } as const;
  const pieces = [JSON.stringify({ jsonrpc: "2.0", id: "{{id}}", error })];
  await dual.script({
    ...DUAL,
    reactions: { ...reactions, "resources/subscribe": [{ ...refusal, pieces }] },
  });
  const session = await Session.open(dual.mcp);
  expect(await subscribe(session, REFUSED)).toMatchObject({
    error: { code: -32602, data: { uri: REFUSED } },
  });
  await (await session.delete()).text();
});
