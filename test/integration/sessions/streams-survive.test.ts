/**
 * The object behind an open stream goes; the stream stays. The client notices nothing: no gap,
 * nothing twice, and its connection is never closed.
 */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import { CAPABILITIES } from "../asking.ts";
import { Session } from "../client.ts";
import { EventReader, type Message, messagesOf, responseIn } from "../event-reader.ts";
import { sseSessionId, storedIn, WAYS_TO_LOSE } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { ANSWER, event, methodOf, progress, streamOf, Upstream } from "../upstream.ts";

function note(n: number): { method: string; params: { n: number } } {
  return { method: "notifications/n", params: { n } };
}

/** The answers that an upstream got to its questions. */
async function answersAt(upstream: Upstream): Promise<readonly unknown[]> {
  const posts = (await upstream.log()).filter(({ method }) => method === "POST");
  return posts.filter(({ body }) => body?.method === undefined).map(({ body }) => body);
}

describe.for(WAYS_TO_LOSE)("though its object $name,", ({ lose, isAbrupt }) => {
  /** @returns when the upstream is listened to again. */
  async function loseBehind(upstream: Upstream, id: string): Promise<void> {
    const before = (await upstream.sent("GET")).length;
    await lose({ id });
    if (isAbrupt) await upstream.receives("GET", before + 1);
  }

  test.for([
    { name: "while the session watches by itself", watches: 1 },
    { name: "when the watch was handed over", watches: 2 },
  ])("a GET stream goes on: $name", async ({ watches }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await stream.next();
    await upstream.send(note(0));
    const ids = [(await stream.next())?.id];
    await upstream.receives("GET", watches);
    for (let n = 1; n <= 3; n++) {
      await loseBehind(upstream, session.id);
      await upstream.send(note(n));
      const seen = await stream.next();
      expect(JSON.parse(seen?.data ?? "")).toMatchObject(note(n));
      ids.push(seen?.id);
    }
    await stream.silence();
    // One stream, event by event, and without so much as a priming.
    const [name = ""] = ids[0]?.split(".") ?? [];
    const nonce = ids[0]?.split("-")[1];
    expect(ids).toEqual([1, 2, 3, 4].map((seq) => `${name}.${seq}-${nonce}`));
    await stream.cancel();
    expect(await upstream.sessions()).toHaveLength(1);
  });

  test("a GET stream without events goes on", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await stream.next();
    await upstream.receives("GET");
    await loseBehind(upstream, session.id);
    await upstream.send(note(1));
    expect(await stream.message()).toMatchObject(note(1));
    await stream.silence();
    await stream.cancel();
  });

  test("each message is still on exactly one of several GET streams", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const streams = [await session.listen(), await session.listen(), await session.listen()];
    const received = streams.map((stream) => stream.collect());
    await upstream.receives("GET");
    for (let n = 1; n <= 3; n++) {
      await loseBehind(upstream, session.id);
      await upstream.send(note(n));
    }
    const count = (): number => received.flat().length;
    await expect.poll(count).toBe(3);
    await upstream.send(note(4));
    await expect.poll(count).toBe(4);
    const numbers = received.flat().map(({ params }) => params?.["n"]);
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3, 4]));
    for (const stream of streams) await stream.cancel();
  });

  test("a stream of HTTP+SSE goes on, with its session", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    const id = sseSessionId(session);
    await upstream.receives("GET");
    for (let n = 1; n <= 2; n++) {
      await loseBehind(upstream, id);
      await upstream.send(note(n));
      expect(await session.stream.message()).toMatchObject(note(n));
      await loseBehind(upstream, id);
      const answer = await session.request("tools/call", { name: "x" }, n);
      expect(answer).toMatchObject({ id: n, result: { content: [{ text: "ran x" }] } });
    }
    await session.stream.silence();
    await session.stream.cancel();
    expect(await upstream.sessions()).toHaveLength(1);
  });
});

test("a question whose object was lost is answered once", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.inUse(upstream.mcp, { capabilities: CAPABILITIES });
  const stream = await session.listen();
  await upstream.send({ id: 7, method: "elicitation/create", params: { message: "?" } });
  const ask = await stream.message();
  await abortAllDurableObjects();
  await session.answer(ask.id, { result: { action: "accept" } });
  await session.answer(ask.id, { result: { action: "decline" } });
  await upstream.receivesAnswer(7);
  await responseIn(await session.callTool());
  expect(await answersAt(upstream)).toEqual([
    { jsonrpc: "2.0", id: 7, result: { action: "accept" } },
  ]);
  await stream.cancel();
});

describe("two resumes at once", () => {
  test("of a GET stream: one of them goes on, the other is closed", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const first = await session.listen();
    await upstream.send(note(1));
    const priming = await first.next();
    await first.next();
    const both = await Promise.all([session.listen(priming?.id), session.listen(priming?.id)]);
    await upstream.send(note(2));
    expect(await first.rest()).toEqual([]);
    const seen = await Promise.all(both.map((stream) => untilSecond(stream)));
    // Whoever was closed had its events in order, and nothing else.
    const whole = seen.filter((numbers) => numbers.includes(2));
    expect(whole).toEqual([[1, 2]]);
    for (const numbers of seen) expect([[], [1], [1, 2]]).toContainEqual(numbers);
    for (const stream of both) await stream.cancel();
  });

  test("of a running call: one of them gets the answer, the other is closed", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const params = { _meta: { progressToken: 1 } };
    const first = new EventReader(await session.callTool("work", params, "mine"));
    const priming = await first.next();
    await first.message();
    const headers = { "Last-Event-ID": priming?.id ?? "" };
    const both = await Promise.all([session.get(headers), session.get(headers)]);
    const reading = both.map((response) => messagesOf(response));
    expect(await first.rest()).toEqual([]);
    await upstream.open("end");
    const ends = (await Promise.all(reading)).map((messages) => messages.map(({ id }) => id));
    expect(ends.filter((ids) => ids.at(-1) === "mine")).toEqual([[undefined, "mine"]]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
  });
});

describe("DELETE in mid-call", () => {
  test("ends every stream, cancels the call at the upstream, and leaves nothing to resume", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const standing = await session.listen();
    const call = new EventReader(await session.callTool("work", { _meta: { progressToken: 1 } }));
    const seen = await call.next();
    await call.message();
    expect((await session.delete()).status).toBe(200);
    for (const stream of [call, standing]) {
      expect((await stream.rest()).filter(({ data }) => data !== "")).toEqual([]);
    }
    const [record] = await upstream.sent("tools/call");
    const [cancelled] = await upstream.receives("notifications/cancelled");
    expect(cancelled?.body?.params?.["requestId"]).toBe(record?.body?.id);
    await expect.poll(async () => (await upstream.used()).map(methodOf)).toContain("DELETE");
    await upstream.open("end");
    expect((await session.get({ "Last-Event-ID": seen?.id ?? "" })).status).toBe(404);
    expect((await session.callTool()).status).toBe(404);
    expect((await storedIn(session)).keys).toEqual(["deleted"]);
    expect((await storedIn(session)).tables).toEqual([]);
  });
});

/** The numbers that a stream brings, up to 2 or its end. */
async function untilSecond(stream: EventReader): Promise<readonly unknown[]> {
  const numbers: unknown[] = [];
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    if (event.data === "") continue;
    numbers.push((JSON.parse(event.data) as Message).params?.["n"]);
    if (numbers.at(-1) === 2) break;
  }
  return numbers;
}
