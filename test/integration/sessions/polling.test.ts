/**
 * A connection is not held for as long as its call runs, where the client knows that a closed
 * connection is not a closed stream (2025-11-25): it comes back for the rest.
 */

import { beforeAll, describe, test } from "vitest";

import { Session } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, jsonOf, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

const TOKEN = { _meta: { progressToken: "p" } } as const;

beforeAll(() => {
  setLimits({ holdSeconds: 1, quietSeconds: 60 });
});

describe("a call that runs longer than a connection is held", () => {
  test("is polled for by a client of 2025-11-25", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const first = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const seen = await first.rest();
    expect(seen.map(({ data }) => data === "")).toEqual([true, false]);
    expect(seen[0]?.retry).toBe(100);
    // The first poll brings nothing new and is let go in its turn, with a place to come back to.
    const second = await session.get({ "Last-Event-ID": seen.at(-1)?.id ?? "" });
    const polled = await new EventReader(second).rest();
    expect(polled.filter(({ data }) => data !== "")).toEqual([]);
    await upstream.open("end");
    const third = await session.get({ "Last-Event-ID": seen.at(-1)?.id ?? "" });
    expect(await responseIn(third)).toEqual({ jsonrpc: "2.0", id: "mine", result: RESULT });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
  });

  test("without any message is resumed from the priming event", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ ...jsonOf({ result: RESULT }), heldBy: "late" }] },
    });
    const session = await Session.open(upstream.mcp);
    const [priming, ...more] = await new EventReader(await session.callTool("work", {}, 7)).rest();
    expect([priming?.data, more]).toEqual(["", []]);
    await upstream.open("late");
    const again = await session.get({ "Last-Event-ID": priming?.id ?? "" });
    expect(await responseIn(again)).toEqual({ jsonrpc: "2.0", id: 7, result: RESULT });
  });

  test("keeps its connection for an older client, which would give the call up", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    await stream.message();
    for (let n = 0; n < 3; n++) await stream.silence();
    await upstream.open("end");
    expect(await stream.message()).toMatchObject({ id: "mine", result: RESULT });
  });
});

test("a GET stream stays open as long as the client wants", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.open(upstream.mcp);
  const stream = await session.listen();
  for (let n = 0; n < 3; n++) await stream.silence();
  await upstream.send({ method: "notifications/tools/list_changed" });
  expect(await stream.message()).toHaveProperty("method");
  await stream.cancel();
});
