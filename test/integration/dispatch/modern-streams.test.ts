/** 2026-07-28, where the answer is a stream: what may be on it, how it ends, and what ends it. */

import { describe, test } from "vitest";

import { PATIENCE_MS } from "../bounded.ts";
import { MODERN, modernCall } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { event, jsonOf, MODERN_ANSWER, progress, streamOf, Upstream } from "../upstream.ts";

const LOG = { method: "notifications/message", params: { level: "info", data: "working" } };

describe("log messages", () => {
  test.for([
    { name: "are dropped when they were not asked for", meta: {}, count: 0 },
    {
      name: "pass when they were",
      meta: { "io.modelcontextprotocol/logLevel": "debug" },
      count: 2,
    },
  ])("$name", async ({ meta, count }, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [streamOf(event(LOG), event(LOG), event(MODERN_ANSWER))] },
    });
    const messages = await messagesOf(await modernCall(upstream, { meta }));
    expect(messages.filter(({ method }) => method === LOG.method)).toHaveLength(count);
    expect(messages.at(-1)).toHaveProperty("result");
  });
});

describe("progress", () => {
  test.for(["a", 0, 7, ""])(
    "comes back with the token %j and its type",
    async (progressToken, { expect }) => {
      const upstream = await Upstream.take({
        server: "modern",
        reactions: { "tools/call": [streamOf(event(progress(1)), event(MODERN_ANSWER))] },
      });
      const [notice] = await messagesOf(await modernCall(upstream, { meta: { progressToken } }));
      expect(notice?.params).toEqual({ progressToken, progress: 1 });
    },
  );

  test("without a request for it, or with the token of another request, is dropped", async ({
    expect,
  }) => {
    const foreign = {
      method: "notifications/progress",
      params: { progressToken: "other", progress: 1 },
    };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: {
        "tools/call": [
          streamOf(event(foreign), event(MODERN_ANSWER)),
          streamOf(event(foreign), event(MODERN_ANSWER)),
        ],
      },
    });
    for (const meta of [{}, { progressToken: "mine" }]) {
      expect(await messagesOf(await modernCall(upstream, { meta }))).toHaveLength(1);
    }
  });
});

test("a request of the server is neither passed on nor answered", async ({ expect }) => {
  const ask = { id: "ask", method: "roots/list" };
  const upstream = await Upstream.take({
    server: "modern",
    reactions: { "tools/call": [streamOf(event(ask), event(MODERN_ANSWER))] },
  });
  const messages = await messagesOf(await modernCall(upstream));
  expect(messages.map(({ method }) => method)).toEqual([undefined]);
  expect((await upstream.log()).filter(({ body }) => body?.method === undefined)).toEqual([]);
});

describe("the stream", () => {
  test("has no ids and ends with the result", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: {
        "tools/call": [streamOf(event(progress(1), { id: "u-1", retry: 5 }), event(MODERN_ANSWER))],
      },
    });
    const response = await modernCall(upstream, { id: "mine", meta: { progressToken: 1 } });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const events = await new EventReader(response).rest();
    expect(events.map(({ id, retry }) => [id, retry])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({
      id: "mine",
      result: { resultType: "complete" },
    });
  });

  test("opens for a slow answer, and is kept alive", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [{ ...jsonOf(MODERN_ANSWER), heldBy: "late" }] },
    });
    const response = await modernCall(upstream, { id: "mine" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const stream = new EventReader(response);
    await stream.silence();
    await upstream.open("late");
    expect(await stream.message()).toMatchObject({ id: "mine" });
    expect(await stream.rest()).toEqual([]);
  });

  test("cancels the upstream's stream when it is closed", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [{ ...streamOf(event(progress(1))), end: "never" }] },
    });
    const stream = new EventReader(await modernCall(upstream, { meta: { progressToken: 1 } }));
    await stream.message();
    await stream.cancel();
    await expect
      .poll(async () => (await upstream.sent("tools/call")).map(({ isCutOff }) => isCutOff), {
        timeout: PATIENCE_MS,
      })
      .toEqual([true]);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(0);
  });
});

test("the version sent upstream is the gateway's own", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "modern" });
  await responseIn(await modernCall(upstream));
  for (const { headers } of await upstream.log()) {
    expect(headers["mcp-protocol-version"]).toBe(MODERN);
  }
});
