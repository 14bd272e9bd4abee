/**
 * A legacy session is notified of each change once, whatever happens to its object, its stream and the
 * objects that carry the news.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, test, vi } from "vitest";

import { FeedObject } from "../../../durable-objects/feed-object.ts";
import type { News } from "../../../src/catalog/feeds.ts";
import { type StreamRequest, streamRequest } from "../../../src/http/client-stream.ts";
import type { SavedInbox } from "../../../src/notifications/legacy/notification-inbox.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import {
  changed,
  clientsOwn,
  LISTS,
  MERGED,
  promised,
  takeTwo,
  subscribe,
  updated,
} from "../merged-session.ts";
import { claimsOf, evict, objectOf, sseSessionId, WAYS_TO_LOSE } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { methodOf, type Upstream } from "../upstream.ts";

const HOUR_MS = 3_600_000;

let first: Upstream;
let second: Upstream;

beforeAll(async () => {
  [first, second] = await takeTwo();
});

// When all objects are lost, so is the watch, and everything may have changed.
const GENTLE = WAYS_TO_LOSE.filter(({ isAbrupt }) => !isAbrupt);

describe.for(GENTLE)("a subscription of a session whose object $name", ({ lose }) => {
  test.for([{ at: "/mcp" }, { at: "its own endpoint" }])(
    "is notified once of what changed while no client listened: at $at",
    async ({ at }, { expect }) => {
      const path = at === "/mcp" ? MERGED.mcp : first.mcp;
      const session = await Session.open(path);
      await subscribe(session, "file:///first/2");
      await lose(session);
      await first.send(updated("file:///first/2"));
      const isReceived = async (): Promise<boolean> =>
        (await (await objectOf(session)).deliver({ slug: first.slug, seq: 0, topics: [] })) ===
        "taken";
      expect(await isReceived()).toBe(true);
      await lose(session);
      const stream = await session.listen();
      expect(await stream.message()).toMatchObject(updated("file:///first/2"));
      await stream.cancel();
      await lose(session);
      const again = await session.listen();
      await again.silence();
      await again.cancel();
      const own = (await clientsOwn(first)).map(methodOf);
      expect(own).not.toContain("resources/subscribe");
      await (await session.delete()).text();
    },
  );
});

test("a client that listens is notified once by an object that was asleep", async ({ expect }) => {
  const session = await Session.open(MERGED.mcp);
  const stream = await session.listen();
  await subscribe(session, "file:///first/1");
  let id: string | undefined;
  for (let n = 0; n < 2; n++) {
    await evict(session);
    await first.send(updated("file:///first/1"));
    const event = await until(async () => {
      const next = await stream.next();
      return next?.data === "" ? undefined : next;
    }, "an update");
    expect(JSON.parse(event.data)).toMatchObject(updated("file:///first/1"));
    ({ id } = event);
  }
  await stream.silence();
  await stream.cancel();
  // What comes while it is away waits for the stream that it takes up again.
  await evict(session);
  await first.send(updated("file:///first/1"));
  const again = await session.listen(id);
  expect(await again.message()).toMatchObject(updated("file:///first/1"));
  await again.silence();
  await again.cancel();
  await (await session.delete()).text();
});

describe("a session that does not know that its client has listened", () => {
  test.for<{
    what: string;
    told: string[];
    place: (mark: string) => Omit<StreamRequest, "claims">;
  }>([
    { what: "nothing to a client that listens now", told: [], place: () => ({}) },
    {
      what: "of all lists to a client that takes up its stream",
      told: LISTS,
      place: (mark) => ({ lastEventId: `g1.0-${mark}000000` }),
    },
    {
      what: "of all lists to the reader of a client that still listens",
      told: LISTS,
      place: () => ({ openedAt: 1 }),
    },
  ])("tells $what", async ({ place, told }, { expect }) => {
    const session = await Session.open(MERGED.mcp);
    const claims = await claimsOf(session.id);
    const object = await objectOf(session);
    const request = streamRequest({ claims, ...place(object.id.toString().slice(-6)) });
    const received: unknown[] = [];
    await runInDurableObject(object, (instance) => {
      const { webSocket } = instance.fetch(request) as Response;
      webSocket?.addEventListener("message", ({ data }) => {
        const [, text] = /^\S* (?<message>.+)$/.exec(String(data)) ?? [];
        if (text !== undefined) received.push(JSON.parse(text));
      });
      webSocket?.accept();
    });
    await promised(session, first, second);
    await first.send(changed("tools"));
    const all = [...told, "tools"].map((list) => ({ jsonrpc: "2.0", ...changed(list) }));
    await expect.poll(() => received).toEqual(all);
    await (await session.delete()).text();
  });
});

test("a client of HTTP+SSE is notified on the stream that is its session", async ({ expect }) => {
  const session = await SseSession.open(MERGED.sse);
  const id = sseSessionId(session);
  const uri = "file:///second/1";
  expect(await session.request("resources/subscribe", { uri })).toMatchObject({ result: {} });
  await evict({ id });
  await second.send(updated(uri));
  expect(await session.stream.message()).toMatchObject(updated(uri));
  await second.send(changed("tools"));
  expect(await session.stream.message()).toMatchObject(changed("tools"));
  await session.stream.silence();
  const object = await objectOf({ id });
  const news = { slug: second.slug, seq: 1e9, topics: ["tools" as const] };
  await session.stream.cancel();
  await expect.poll(() => object.deliver(news)).toBe("gone");
});

test("a client that was away for long is notified that everything may have changed", async ({
  expect,
}) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await promised(session, first, second);
    await subscribe(session, "file:///first/1");
    await stream.cancel();
    const object = await objectOf(session);
    // Between its own stream's end and the news, the object may not have noticed yet.
    const news = (seq: number): News => ({ slug: first.slug, seq, topics: ["prompts"] });
    const isWaiting = async (): Promise<boolean> =>
      (
        await runInDurableObject(object, (_instance, { storage }) =>
          storage.kv.get<SavedInbox>("heard"),
        )
      )?.unread?.includes("prompts") === true;
    let seq = 1e6;
    await until(async () => {
      await object.deliver(news(++seq));
      return (await isWaiting()) ? true : undefined;
    }, "the news to wait");
    vi.setSystemTime(Date.now() + 2 * HOUR_MS);
    await evict(session);
    expect(await object.deliver(news(++seq))).toBe("offline");
    await evict(session);
    expect(await object.deliver(news(++seq))).toBe("offline");
    const again = await session.listen();
    const received: unknown[] = [];
    while (received.length < LISTS.length + 1) received.push((await again.message()).method);
    expect(received).toEqual([
      ...LISTS.map((list) => changed(list)["method"]),
      updated("")["method"],
    ]);
    await again.silence();
    expect(await object.deliver(news(++seq))).toBe("taken");
    expect(await again.message()).toMatchObject(changed("prompts"));
    await again.cancel();
    await (await session.delete()).text();
  } finally {
    vi.useRealTimers();
  }
});

test("after a restart of everything, a client that listens is subscribed again at once", async ({
  expect,
}) => {
  const session = await Session.open(MERGED.mcp);
  const stream = await session.listen();
  await subscribe(session, "file:///first/1");
  const { length: before } = await first.sent("resources/subscribe");
  await abortAllDurableObjects();
  const message = stream.message();
  await first.receives("resources/subscribe", before + 1);
  await first.send(updated("file:///first/1"));
  // The watch was lost: possible changes are announced first.
  expect(await message).toHaveProperty("method");
  await stream.cancel();
});

test("a client that got a list for which a feed did not answer is told once the feed does", async ({
  expect,
}) => {
  const session = await Session.open(MERGED.mcp);
  const stream = await session.listen();
  await promised(session, first, second);
  const asked = vi.spyOn(FeedObject.prototype, "catalog").mockImplementation(() => {
    throw new Error("It is overloaded");
  });
  const answer = await responseIn(await session.request("tools/list"));
  expect(JSON.stringify(answer)).toContain("The gateway cannot tell at the moment");
  asked.mockRestore();
  const told = [];
  while (told.length < LISTS.length) told.push(await stream.message());
  const all = LISTS.map((list) => expect.objectContaining(changed(list)));
  expect(told).toEqual(expect.arrayContaining(all));
  await stream.cancel();
  await (await session.delete()).text();
});
