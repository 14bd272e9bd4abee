/** The stream that answers a POST: how it is taken up, and how it outlives its client. */

import { describe, test } from "vitest";

import { LATEST_LEGACY, Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import {
  ANSWER,
  event,
  jsonOf,
  LOG,
  progress,
  RESULT,
  STREAMED,
  streamOf,
  Upstream,
} from "../upstream.ts";

const PROMPTS_CHANGED = { method: "notifications/prompts/list_changed" } as const;
const TOKEN = { _meta: { progressToken: "p" } } as const;

function read(data: string): unknown {
  return JSON.parse(data);
}

describe("the stream of a POST", () => {
  test("is resumed where it broke, the answer included", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [
          streamOf(
            event(progress(1)),
            event(progress(2)),
            { gate: "end" },
            event(progress(3)),
            event(ANSWER),
          ),
        ],
      },
    });
    const session = await Session.open(upstream.mcp);
    const first = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const priming = await first.next();
    const one = await first.next();
    const two = await first.next();
    await first.cancel();
    await upstream.open("end");
    // Any number of times, from anywhere: the answer is kept.
    for (const [from, left] of [
      [two, 2],
      [one, 3],
      [priming, 4],
      [two, 2],
    ] as const) {
      const again = await session.get({ "Last-Event-ID": from?.id ?? "" });
      expect(again.status).toBe(200);
      const messages = await messagesOf(again);
      expect(messages).toHaveLength(left);
      expect(messages.at(-1)).toEqual({ jsonrpc: "2.0", id: "mine", result: RESULT });
    }
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
  });

  test("delivers only its own events when it is resumed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [
          streamOf(event(progress(1)), { gate: "a" }, event(ANSWER)),
          streamOf(event(progress(2)), { gate: "b" }, event(ANSWER)),
        ],
      },
    });
    const session = await Session.open(upstream.mcp);
    const a = new EventReader(await session.callTool("a", TOKEN, "a"));
    const b = new EventReader(await session.callTool("b", TOKEN, "b"));
    const standing = await session.listen();
    await upstream.send(PROMPTS_CHANGED);
    const seen = { a: await a.next(), b: await b.next(), standing: await standing.next() };
    for (const stream of [a, b, standing]) await stream.cancel();
    await upstream.open("a");
    await upstream.open("b");
    for (const id of ["a", "b"] as const) {
      const again = await session.get({ "Last-Event-ID": seen[id]?.id ?? "" });
      const messages = await messagesOf(again);
      expect(messages.map((message) => message.id ?? message.params?.["progress"])).toEqual([
        id === "a" ? 1 : 2,
        id,
      ]);
    }
    const again = await session.listen(seen.standing?.id);
    expect(await again.message()).toMatchObject(PROMPTS_CHANGED);
    await again.silence();
    await again.cancel();
  });

  test("is replayed whole, again and again, once it is over", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [STREAMED] },
    });
    const session = await Session.open(upstream.mcp);
    const seen = await new EventReader(await session.callTool()).rest();
    expect(seen.map(({ data }) => data === "")).toEqual([true, false, false]);
    for (let n = 0; n < 3; n++) {
      const again = await session.get({ "Last-Event-ID": seen[0]?.id ?? "" });
      // The same events, with the ids that they had.
      const events = await new EventReader(again).rest();
      expect(events.map(({ id, data }) => [id, data])).toEqual(
        seen.slice(1).map(({ id, data }) => [id, data]),
      );
    }
    const last = await session.get({ "Last-Event-ID": seen[2]?.id ?? "" });
    expect([last.status, await new EventReader(last).rest()]).toEqual([200, []]);
  });

  test("of another session cannot be resumed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [STREAMED, STREAMED] },
    });
    const [mine, theirs] = [await Session.open(upstream.mcp), await Session.open(upstream.mcp)];
    await messagesOf(await mine.callTool());
    for (const { id = "" } of await new EventReader(await theirs.callTool()).rest()) {
      const response = await mine.get({ "Last-Event-ID": id });
      expect(response.status).toBe(400);
      expect(await response.text()).not.toContain("ran");
    }
  });

  test("that is no longer kept is refused with 400", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ ...STREAMED, isLasting: true }] },
    });
    const session = await Session.open(upstream.mcp);
    const [oldest, newer] = [
      await new EventReader(await session.callTool()).rest(),
      await new EventReader(await session.callTool()).rest(),
    ];
    // Eight are kept: the ninth takes the place of the oldest, and of no other.
    for (let n = 0; n < 7; n++) await messagesOf(await session.callTool());
    const kept = await session.get({ "Last-Event-ID": newer[0]?.id ?? "" });
    expect(await responseIn(kept)).toHaveProperty("result");
    for (const { id = "" } of oldest) {
      const response = await session.get({ "Last-Event-ID": id });
      expect(response.status).toBe(400);
      expect((await responseIn(response)).error?.message).toContain("Last-Event-ID");
    }
  });

  test("that outgrows its limit ends in one error, and its call is cancelled at the upstream", async ({
    expect,
  }) => {
    const big = { ...LOG, params: { level: "info", data: "x".repeat(5000) } };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [
          streamOf(...Array.from({ length: 6 }, () => event(big)), { gate: "end" }, event(ANSWER)),
        ],
      },
    });
    const session = await Session.open(upstream.mcp);
    const events = await new EventReader(await session.callTool("work", {}, "mine")).rest();
    const messages = events.filter(({ data }) => data !== "").map(({ data }) => read(data));
    // Three fit into the 16 KiB; what was sent is not taken back, and what follows is not sent.
    expect(messages.slice(0, -1)).toEqual([big, big, big].map((m) => ({ jsonrpc: "2.0", ...m })));
    expect(messages.at(-1)).toMatchObject({ id: "mine", error: { code: -32603 } });
    const [cancelled] = await upstream.receives("notifications/cancelled");
    const [call] = await upstream.sent("tools/call");
    expect(cancelled?.body?.params?.["requestId"]).toBe(call?.body?.id);
    await upstream.open("end");
    // Nothing of it is lost: what fitted can be had again, the error included.
    const again = await session.get({ "Last-Event-ID": events[0]?.id ?? "" });
    expect(await messagesOf(again)).toEqual(messages);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });

  test("with an id that was not issued yet is refused with 400", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [STREAMED] },
    });
    const session = await Session.open(upstream.mcp);
    const last = (await new EventReader(await session.callTool()).rest()).at(-1)?.id ?? "";
    expect(last).toMatch(/^p\d+\.2-/);
    const response = await session.get({ "Last-Event-ID": last.replace(".2-", ".3-") });
    expect(response.status).toBe(400);
    await response.text();
  });

  test("outlives a client that hangs up: nothing is cancelled", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const first = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const seen = await first.next();
    await first.cancel();
    await responseIn(await session.callTool("other"));
    const [call] = await upstream.sent("tools/call");
    expect(call?.isCutOff).toBe(false);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
    await upstream.open("end");
    const again = await session.get({ "Last-Event-ID": seen?.id ?? "" });
    expect(await responseIn(again)).toMatchObject({ id: "mine", result: RESULT });
  });
});

describe("a slow call", () => {
  test("becomes a stream that is kept alive", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ ...jsonOf({ result: RESULT }), heldBy: "late" }] },
    });
    const session = await Session.open(upstream.mcp, { revision: LATEST_LEGACY });
    const response = await session.callTool("work", {}, "mine");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const stream = new EventReader(response);
    await stream.silence();
    await stream.silence();
    await upstream.open("late");
    expect(await stream.message()).toEqual({ jsonrpc: "2.0", id: "mine", result: RESULT });
    expect(await stream.rest()).toEqual([]);
  });

  test("keeps its id reserved, and counts towards the session's limit", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [{ ...streamOf({ gate: "end" }, event(ANSWER)), isLasting: true }],
      },
    });
    const session = await Session.open(upstream.mcp);
    const calls = [];
    for (const id of ["1", 1, 2, 3]) calls.push(await session.callTool("work", {}, id));
    const doubled = await session.callTool("work", {}, 1);
    expect([doubled.status, (await responseIn(doubled)).id]).toEqual([429, 1]);
    const fifth = await session.callTool("work", {}, 4);
    expect([fifth.status, (await responseIn(fifth)).id]).toEqual([429, 4]);
    expect(await upstream.sent("tools/call")).toHaveLength(4);
    await upstream.open("end");
    for (const call of calls) expect(await responseIn(call)).toHaveProperty("result");
    expect(await responseIn(await session.callTool("work", {}, 1))).toHaveProperty("result");
  });

  test("is the only one with its id", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf({ gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const call = await session.callTool("work", {}, 1);
    const doubled = await session.callTool("work", {}, 1);
    expect([doubled.status, (await responseIn(doubled)).id]).toEqual([400, 1]);
    // The same digits as a string are another id.
    expect(await responseIn(await session.callTool("work", {}, "1"))).toMatchObject({ id: "1" });
    await upstream.open("end");
    expect(await responseIn(call)).toMatchObject({ id: 1 });
  });

  test("is refused with an id or token too long to be kept with each event", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const long = "x".repeat(1025);
    const refused = [
      await session.request("tools/list", {}, long),
      await session.request("tools/list", { _meta: { progressToken: long } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400]);
    const served = await session.request("tools/list", {}, "x".repeat(1024));
    expect(served.status).toBe(200);
  });
});
