/** The streams that carry what belongs to no request: one message on one of them, and resumption. */

import { beforeAll, describe, test } from "vitest";

import { Session } from "../client.ts";
import { EventReader, responseIn, type SeenEvent } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

beforeAll(() => setLimits({ lingerSeconds: 60 }));

const CHANGED = { method: "notifications/tools/list_changed" } as const;
const TOKEN = { _meta: { progressToken: "p" } } as const;

describe("a priming event with an id and retry opens", () => {
  test.for([
    { revision: "2025-11-25", isPrimed: true },
    { revision: "2025-06-18", isPrimed: false },
    { revision: "2025-03-26", isPrimed: false },
  ])("the streams of $revision: $isPrimed", async ({ revision, isPrimed }, { expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp, { revision });
    const called = await new EventReader(await session.callTool("work", TOKEN)).rest();
    const standing = await session.listen();
    await upstream.send(CHANGED);
    await upstream.send(CHANGED);
    const listened: (SeenEvent | undefined)[] = [];
    while (listened.length < called.length) listened.push(await standing.next());
    await standing.cancel();
    for (const events of [called, listened]) {
      expect(events.map((seen) => seen?.data === "")).toEqual(
        isPrimed ? [true, false, false] : [false, false],
      );
      for (const seen of events) expect(seen?.id).toMatch(/^[\x21-\x7e]+$/);
      expect(new Set(events.map((seen) => seen?.id)).size).toBe(events.length);
      expect(events[0]?.retry).toBe(isPrimed ? 100 : undefined);
    }
  });
});

describe("a message that belongs to no request", () => {
  test("goes out on exactly one of several GET streams", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const streams = [await session.listen(), await session.listen(), await session.listen()];
    for (let n = 0; n < 5; n++) await upstream.send({ method: "notifications/n", params: { n } });
    const newest = streams.at(-1);
    const seen: unknown[] = [];
    for (let n = 0; n < 5; n++) seen.push((await newest?.message())?.params?.["n"]);
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    await streams[0]?.silence();
    await streams[1]?.silence();
    await newest?.silence();
    for (const stream of streams) await stream.cancel();
  });

  test("never goes out on the stream of a request", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const standing = await session.listen();
    const call = new EventReader(await session.callTool("work", TOKEN, "mine"));
    expect(await call.message()).toMatchObject({ method: "notifications/progress" });
    await upstream.send(CHANGED);
    expect(await standing.message()).toMatchObject(CHANGED);
    await upstream.open("end");
    expect(await call.message()).toMatchObject({ id: "mine", result: RESULT });
    expect(await call.rest()).toEqual([]);
    await standing.silence();
    await standing.cancel();
  });

  test("waits for a stream to be opened", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    // The stream is the upstream's way in; without a client's it has nowhere to go.
    const first = await session.listen();
    const priming = await first.next();
    await upstream.receives("GET");
    await first.cancel();
    await upstream.send(CHANGED);
    const second = await session.listen(priming?.id);
    expect(await second.message()).toMatchObject(CHANGED);
    await second.cancel();
  });
});

describe("a GET stream", () => {
  test("is resumed after the last event that was received", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const first = await session.listen();
    const ids: (string | undefined)[] = [(await first.next())?.id];
    for (let n = 1; n <= 4; n++) {
      await upstream.send({ method: "notifications/n", params: { n } });
      ids.push((await first.next())?.id);
    }
    await first.cancel();
    for (let seen = 0; seen <= 4; seen++) {
      const again = await session.listen(ids[seen]);
      for (let n = seen + 1; n <= 4; n++) {
        const replayed = await again.next();
        expect(replayed?.id).toBe(ids[n]);
        expect(JSON.parse(replayed?.data ?? "")).toMatchObject({ params: { n } });
      }
      await again.silence();
      await again.cancel();
    }
  });

  test("that is resumed while its old connection is open goes on in the new one alone", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const first = await session.listen();
    const priming = await first.next();
    const second = await session.listen(priming?.id);
    await upstream.send(CHANGED);
    expect(await second.message()).toMatchObject(CHANGED);
    expect(await first.rest()).toEqual([]);
    await second.cancel();
  });

  test("goes on after others were opened and closed without a message", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    // As many as may be open at once, and more: each client's connection is gone before the next.
    for (let n = 0; n < 8; n++) {
      const response = await session.get();
      expect([n, response.status]).toEqual([n, 200]);
      await response.body?.cancel();
    }
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    const stream = await session.listen();
    await upstream.send(CHANGED);
    expect(await stream.message()).toMatchObject(CHANGED);
    await stream.cancel();
  });

  test("over the limit is refused with 429, and a closed one makes room", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const streams: EventReader[] = [];
    for (let n = 0; n < 6; n++) streams.push(await session.listen());
    const refused = await session.get();
    expect(refused.status).toBe(429);
    expect((await responseIn(refused)).error?.code).toBe(-32000);
    await streams.pop()?.cancel();
    await expect
      .poll(async () => {
        const response = await session.get();
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
    for (const stream of streams) await stream.cancel();
  });

  test("that is open can be resumed even at the limit: its older reader makes room", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const streams: EventReader[] = [];
    const primings: (SeenEvent | undefined)[] = [];
    for (let n = 0; n < 6; n++) {
      const stream = await session.listen();
      primings.push(await stream.next());
      streams.push(stream);
    }
    const [oldest, ...others] = streams;
    const again = await session.listen(primings[0]?.id);
    expect(await oldest?.rest()).toEqual([]);
    await upstream.send(CHANGED);
    expect(await again.message()).toMatchObject(CHANGED);
    const refused = await session.get();
    expect(refused.status).toBe(429);
    await refused.text();
    for (const stream of [again, ...others]) await stream.cancel();
  });
});
