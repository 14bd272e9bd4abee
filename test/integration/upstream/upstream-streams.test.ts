/**
 * A legacy upstream whose streams break. They are taken up where they were left, and no call is
 * sent again.
 */

import { beforeAll, describe, test } from "vitest";

import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { PATIENCE_MS } from "../bounded.ts";
import { Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, EVENT_STREAM, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

// A client that is back at once is back in time, also on a busy machine.
beforeAll(() => setLimits({ lingerSeconds: 5 }));

describe("a stream that breaks before the answer", () => {
  const BREAKS: readonly { name: string; reaction: Reaction }[] = [
    { name: "closed", reaction: streamOf(event(progress(1), { id: "e-1", retry: 10 })) },
    {
      name: "reset",
      reaction: { ...streamOf(event(progress(1), { id: "e-1", retry: 10 })), end: "reset" },
    },
    { name: "closed after a priming event", reaction: streamOf("id: e-1\nretry: 10\ndata:\n\n") },
  ];

  test.for(BREAKS)(
    "$name: is taken up where it was left",
    async ({ name, reaction }, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        reactions: {
          "tools/call": [{ ...reaction }],
          GET: [{ status: 200, headers: EVENT_STREAM, pieces: [{ gate: "late" }], end: "close" }],
        },
      });
      const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
      const pending = session.callTool("work", { _meta: { progressToken: "p" } }, "mine");
      const [resumed] = await upstream.receives("GET");
      const [call] = await upstream.sent("tools/call");
      expect(resumed?.headers).toMatchObject({
        "last-event-id": "e-1",
        "mcp-session-id": call?.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-06-18",
        accept: "text/event-stream",
      });
      // The first resumption brings nothing; the second brings the answer.
      const answer = event({ id: call?.body?.id, result: RESULT }, { id: "e-2" });
      await upstream.script({ server: "legacy", reactions: { GET: [streamOf(answer)] } });
      await upstream.open("late");
      const messages = await messagesOf(await pending);
      expect(messages.at(-1)).toMatchObject({ id: "mine", result: RESULT });
      expect(messages).toHaveLength(name === "closed after a priming event" ? 1 : 2);
      expect(await upstream.sent("tools/call")).toHaveLength(1);
      expect(await upstream.sent("GET")).toHaveLength(2);
    },
  );

  test("and whose server cannot be reached at first is resumed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf("id: e-1\nretry: 10\ndata:\n\n")],
        GET: [{ status: 0, heldBy: "late" }],
      },
    });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const pending = session.callTool();
    await upstream.receives("GET");
    const [call] = await upstream.sent("tools/call");
    const answer = event({ id: call?.body?.id, result: RESULT }, { id: "e-2" });
    const reactions = { GET: [{ status: 0 }, streamOf(answer)] };
    await upstream.script({ server: "legacy", reactions });
    await upstream.open("late");
    expect(await responseIn(await pending)).toMatchObject({ result: RESULT });
    expect(await upstream.sent("GET")).toHaveLength(3);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("and cannot be resumed causes one error, and the call is not sent again", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf("id: e-1\nretry: 10\ndata:\n\n")],
        GET: [{ status: 405, isLasting: true }],
      },
    });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const message = await responseIn(await session.callTool());
    expect(message.error).toMatchObject({
      code: -32603,
      data: { upstream: upstream.slug, reason: "lost" },
    });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("and whose session was forgotten meanwhile causes one error, and the call is not sent again", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf("id: e-1\nretry: 10\ndata:\n\n", { gate: "break" })] },
    });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const pending = session.callTool();
    await upstream.receives("tools/call");
    await upstream.forget();
    await upstream.open("break");
    const message = await responseIn(await pending);
    expect(message.error).toMatchObject({ code: -32603, data: { upstream: upstream.slug } });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });
});

/** Of each GET of the gateway's, whether the gateway has ended it. */
async function cutOff(upstream: Upstream): Promise<readonly boolean[]> {
  return (await upstream.sent("GET")).map(({ isCutOff }) => isCutOff);
}

describe("the GET stream of an upstream", () => {
  test("is opened with the client's, and resumed when it breaks", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    expect(await upstream.sent("GET")).toHaveLength(0);
    const stream = await session.listen();
    await upstream.send({ method: "notifications/tools/list_changed" }, "g-1");
    expect(await stream.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    await upstream.hangUp();
    const records = await upstream.receives("GET", 2);
    expect(records[1]?.headers["last-event-id"]).toBe("g-1");
    await upstream.send({ method: "notifications/prompts/list_changed" }, "g-2");
    expect(await stream.message()).toMatchObject({ method: "notifications/prompts/list_changed" });
    await stream.cancel();
  });

  test("outlives the client's for a while, and its messages are kept", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const stream = await session.listen();
    const priming = await stream.next();
    await upstream.receives("GET");
    await stream.cancel();
    await upstream.send({ method: "notifications/tools/list_changed" });
    await expect.poll(() => cutOff(upstream), { timeout: PATIENCE_MS }).toEqual([true]);

    const resumed = await session.listen(priming?.id);
    expect(await resumed.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    await upstream.receives("GET", 2);
    await resumed.cancel();
  });

  test("is handed over to the Worker when it is quiet, and back when the client's breaks", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const stream = await session.listen();
    const priming = await stream.next();
    await upstream.send({ method: "notifications/n", params: { n: 1 } }, "g-1");
    expect(await stream.message()).toMatchObject({ params: { n: 1 } });
    const [, handedOver] = await upstream.receives("GET", 2);
    expect(handedOver?.headers["last-event-id"]).toBe("g-1");
    await upstream.send({ method: "notifications/n", params: { n: 2 } }, "g-2");
    expect(await stream.message()).toMatchObject({ params: { n: 2 } });
    await stream.cancel();
    const [, , handedBack] = await upstream.receives("GET", 3);
    expect(handedBack?.headers["last-event-id"]).toBe("g-2");
    await upstream.send({ method: "notifications/n", params: { n: 3 } }, "g-3");
    // Never two at once, and none is left behind.
    await expect.poll(() => cutOff(upstream), { timeout: PATIENCE_MS }).toEqual([true, true, true]);

    const resumed = await session.listen(priming?.id);
    for (const n of [1, 2, 3]) expect(await resumed.message()).toMatchObject({ params: { n } });
    await resumed.silence();
    await resumed.cancel();
  });

  test("may be refused without an effect on calls", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        GET: [{ status: 405, isLasting: true }],
        "tools/call": [streamOf(event(ANSWER))],
      },
    });
    const session = await Session.open(upstream.mcp);
    const stream = await session.listen();
    await upstream.receives("GET");
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    // It is asked for once by whoever watches: here at first, and beside the client's stream then.
    await upstream.receives("GET", 2);
    await stream.silence();
    await stream.silence();
    expect(await upstream.sent("GET")).toHaveLength(2);
    await stream.cancel();
  });
});

test("an upstream that closes its connection is polled, and so is the gateway", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: {
      "tools/call": [streamOf("id: e-1\nretry: 10\ndata:\n\n")],
      GET: [{ ...streamOf({ gate: "late" }), isLasting: true }],
    },
  });
  const session = await Session.open(upstream.mcp);
  // Not after the time that a connection is held, which is minutes: as soon as the upstream let go.
  const [priming, ...more] = await new EventReader(await session.callTool("work", {}, 7)).rest();
  expect([priming?.data, more]).toEqual(["", []]);
  const [call] = await upstream.sent("tools/call");
  const answer = event({ id: call?.body?.id, result: RESULT }, { id: "e-2" });
  await upstream.script({ server: "legacy", reactions: { GET: [streamOf(answer)] } });
  await upstream.open("late");
  const again = await session.get({ "Last-Event-ID": priming?.id ?? "" });
  expect(await responseIn(again)).toEqual({ jsonrpc: "2.0", id: 7, result: RESULT });
  expect(await upstream.sent("tools/call")).toHaveLength(1);
});
