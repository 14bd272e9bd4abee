/** Progress and cancellation: ids and tokens belong to one hop, and are put back with their type. */

import { describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { asking, CAPABILITIES } from "../asking.ts";
import { Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { ANSWER, event, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

async function finish(upstream: Upstream, call: EventReader): Promise<unknown> {
  await upstream.open("go-on");
  return call.message();
}

describe("progress", () => {
  test.for(["t", 0, 7, "7", ""])(
    "of a call comes back with the token %j and its type",
    async (progressToken, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        reactions: {
          "tools/call": [streamOf(event(progress(1)), event(progress(2)), event(ANSWER))],
        },
      });
      const session = await Session.open(upstream.mcp);
      const messages = await messagesOf(
        await session.callTool("work", { _meta: { progressToken, own: 1 } }),
      );
      expect(messages.slice(0, 2).map(({ params }) => params)).toEqual([
        { progressToken, progress: 1 },
        { progressToken, progress: 2 },
      ]);
      const [record] = await upstream.sent("tools/call");
      const meta = record?.body?.params?.["_meta"] as Json;
      expect(meta["own"]).toBe(1);
      expect(meta["progressToken"]).not.toBe(progressToken);
    },
  );

  test("of two concurrent calls with the same token reaches each", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [
          streamOf({ gate: "a" }, event(progress(1)), event(ANSWER)),
          streamOf({ gate: "b" }, event(progress(2)), event(ANSWER)),
        ],
      },
    });
    const session = await Session.open(upstream.mcp);
    const params = { _meta: { progressToken: 1 } };
    const [a, b] = [await session.callTool("a", params), await session.callTool("b", params)];
    await upstream.open("b");
    await upstream.open("a");
    expect((await messagesOf(a))[0]?.params).toEqual({ progressToken: 1, progress: 1 });
    expect((await messagesOf(b))[0]?.params).toEqual({ progressToken: 1, progress: 2 });
  });

  test("without a request for it, or with the token of another request, is dropped", async ({
    expect,
  }) => {
    const foreign = {
      method: "notifications/progress",
      params: { progressToken: "t", progress: 1 },
    };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(foreign), event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp);
    const messages = await messagesOf(
      await session.callTool("work", { _meta: { progressToken: "t" } }),
    );
    expect(messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test("of an answer that the client prepares reaches the asking server with the server's token", async ({
    expect,
  }) => {
    const upstream = await asking({
      id: 5,
      method: "sampling/createMessage",
      params: { _meta: { progressToken: 0 } },
    });
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool());
    const ask = await call.message();
    const progressToken = ask.params?._meta?.["progressToken"];
    expect(progressToken).not.toBe(0);
    await session.notify("notifications/progress", { progressToken, progress: 1 });
    await session.notify("notifications/progress", { progressToken: "nobody", progress: 2 });
    await session.answer(ask.id, { result: {} });
    await upstream.receivesAnswer(5);
    const sent = await upstream.sent("notifications/progress");
    expect(sent.map(({ body }) => body?.params)).toEqual([{ progressToken: 0, progress: 1 }]);
    await finish(upstream, call);
  });
});

describe("cancellation by the client", () => {
  test.for(["mine", 0, 7])(
    "of the call %j reaches the upstream with the upstream's id",
    async (id, { expect }) => {
      const upstream = await asking({ id: 5, method: "elicitation/create", params: {} });
      const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
      const call = new EventReader(await session.callTool("work", {}, id));
      await call.message();
      await session.notify("notifications/cancelled", { requestId: id, reason: "bored" });
      const [cancelled] = await upstream.receives("notifications/cancelled");
      const [record] = await upstream.sent("tools/call");
      expect(cancelled?.body?.params).toEqual({ requestId: record?.body?.id, reason: "bored" });
      // The open question is withdrawn, no answer follows, and the stream is over.
      const rest = (await call.rest()).map(({ data }) => JSON.parse(data) as Json);
      expect(rest).toMatchObject([{ method: "notifications/cancelled" }]);
      expect(await responseIn(await session.callTool("work", {}, id))).toHaveProperty("result");
    },
  );

  test("of an unknown id, a finished one, or one of another type has no effect", async ({
    expect,
  }) => {
    const upstream = await asking();
    const session = await Session.open(upstream.mcp);
    const call = new EventReader(await session.callTool("work", {}, 1));
    await responseIn(await session.callTool("done", {}, 2));
    for (const requestId of ["1", 2, 99, null, {}]) {
      await session.notify("notifications/cancelled", { requestId });
    }
    expect(await finish(upstream, call)).toMatchObject({ id: 1, result: RESULT });
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
  });

  test("of a call that has no stream yet ends the call without an answer", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await Session.open(upstream.mcp);
    const pending = session.callTool("work", {}, "mine");
    await upstream.receives("tools/call");
    await session.notify("notifications/cancelled", { requestId: "mine" });
    await upstream.receives("notifications/cancelled");
    const response = await pending;
    // 2025-11-25, cancellation: no response SHOULD be sent for a request that was cancelled.
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream",
    ]);
    expect(await response.text()).not.toContain("data: {");
  });
});
