/**
 * An upstream that takes too long: its call is given up in an error that names it, and the
 * upstream gets a cancellation in the form of its era.
 */

import { describe, test } from "vitest";

import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { modernCall, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import {
  ANSWER,
  event,
  EVENT_STREAM,
  JSON_TYPE,
  jsonOf,
  progress,
  RESULT,
  streamOf,
  Upstream,
} from "../upstream.ts";

describe("a call without an answer", () => {
  const SILENCES: readonly { name: string; reaction: Reaction }[] = [
    { name: "no response at all", reaction: { heldBy: "never" } },
    { name: "a silent stream", reaction: { ...streamOf(), end: "never" } },
    {
      name: "a stream after one sign of life",
      reaction: { ...streamOf(event(progress(1))), end: "never" },
    },
    { name: "half a body", reaction: { headers: JSON_TYPE, pieces: ["{"], end: "never" } },
  ];

  test.for(SILENCES)(
    "$name: times out, and is cancelled at a legacy upstream",
    async ({ reaction }, { expect }) => {
      const upstream = await Upstream.take(
        { server: "legacy", reactions: { "tools/call": [reaction] } },
        "hasty",
      );
      const session = await Session.open(upstream.mcp);
      const response = await session.callTool("work", { _meta: { progressToken: "t" } });
      const message = await responseIn(response);
      expect(message.error).toMatchObject({
        code: -32603,
        data: { upstream: upstream.slug, reason: "timeout" },
      });
      const [call] = await upstream.sent("tools/call");
      const [cancelled] = await upstream.receives("notifications/cancelled");
      expect(cancelled?.body?.params?.["requestId"]).toBe(call?.body?.id);
      expect(await upstream.sent("tools/call")).toHaveLength(1);
      expect(await responseIn(await session.callTool())).toHaveProperty("result");
    },
  );

  test.for(SILENCES)(
    "$name: times out, and a modern upstream's stream is closed",
    async ({ reaction }, { expect }) => {
      const upstream = await Upstream.take(
        { server: "modern", reactions: { "tools/call": [reaction] } },
        "hasty",
      );
      const message = await responseIn(await modernCall(upstream, { meta: { progressToken: 1 } }));
      expect(message.error).toMatchObject({ data: { upstream: upstream.slug, reason: "timeout" } });
      await expect
        .poll(async () => (await upstream.sent("tools/call")).map(({ isCutOff }) => isCutOff))
        .toEqual([true]);
      expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
    },
  );

  test("progress keeps a slow call alive", async ({ expect }) => {
    const upstream = await Upstream.take(
      {
        server: "legacy",
        reactions: {
          "tools/call": [
            streamOf(
              event(progress(1)),
              { gate: "a" },
              event(progress(2)),
              { gate: "b" },
              event(ANSWER),
            ),
          ],
        },
      },
      "patient",
    );
    const session = await Session.open(upstream.mcp);
    const begun = Date.now();
    const pending = session.callTool("work", { _meta: { progressToken: 1 } });
    // Longer than the time-out in all, never for so long without a sign of life.
    for (const [index, gate] of ["a", "b"].entries()) {
      await expect
        .poll(() => Date.now() - begun, { timeout: 20_000 })
        .toBeGreaterThan(2200 * (index + 1));
      await upstream.open(gate);
    }
    expect(await responseIn(await pending)).toHaveProperty("result");
  });
});

test("one broken call does not disturb concurrent calls", async ({ expect }) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: {
      "tools/call": [
        streamOf(event(progress(1)), { gate: "end" }, event(ANSWER)),
        { headers: EVENT_STREAM, pieces: [{ gate: "break" }], end: "reset" },
        jsonOf({ result: RESULT }),
      ],
    },
  });
  const session = await Session.open(upstream.mcp);
  const slow = await session.callTool("slow", { _meta: { progressToken: 1 } });
  const broken = await session.callTool("broken");
  expect(await responseIn(await session.callTool("quick"))).toHaveProperty("result");
  await upstream.open("break");
  expect((await responseIn(broken)).error?.data).toMatchObject({ reason: "lost" });
  await upstream.open("end");
  expect(await responseIn(slow)).toHaveProperty("result");
  expect(await upstream.sent("tools/call")).toHaveLength(3);
});

describe("a notification of the client is accepted in time although the upstream", () => {
  test.for<{ name: string; reaction: Reaction }>([
    { name: "fails", reaction: { status: 500 } },
    { name: "drops the connection", reaction: { status: 0 } },
    {
      name: "never finishes its refusal",
      reaction: { status: 400, headers: JSON_TYPE, pieces: ["{"], end: "never" },
    },
    {
      name: "never finishes its acceptance",
      reaction: { status: 202, headers: JSON_TYPE, pieces: ["{"], end: "never" },
    },
    { name: "never answers it", reaction: { heldBy: "never" } },
  ])("$name", async ({ reaction }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const method = "notifications/roots/list_changed";
    await upstream.script({ server: "legacy", reactions: { [method]: [reaction] } });
    await session.notify(method);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(await upstream.sent(method)).toHaveLength(1);
  });
});
