/** Ids and progress tokens are kept with every event of a call: there is an end to their length. */

import { describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { SseSession } from "../sse-client.ts";
import { Upstream } from "../upstream.ts";

const LONGEST = "x".repeat(1024);

function call(id: unknown, progressToken: unknown): Json {
  return { id, method: "tools/call", params: { name: "work", _meta: { progressToken } } };
}

const TOO_LONG = [
  { name: "a request id", message: call(`${LONGEST}x`, 1) },
  { name: "a progress token", message: call(1, `${LONGEST}x`) },
];

describe("more than 1024 characters", () => {
  test.for(TOO_LONG)("of $name get 400, and nothing is called", async ({ message }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    const response = await session.post(message);
    expect(response.status).toBe(400);
    expect((await responseIn(response)).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("1024") as unknown,
    });
    expect(await upstream.sent("tools/call")).toHaveLength(0);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });

  test.for(TOO_LONG)(
    "of $name in a batch get 400 for all of it",
    async ({ message }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy" });
      const session = await Session.open(upstream.mcp, { revision: "2025-03-26" });
      const response = await session.post([call(2, 2), message]);
      expect(response.status).toBe(400);
      await response.text();
      expect(await upstream.sent("tools/call")).toHaveLength(0);
    },
  );

  test.for(TOO_LONG)("of $name get 400 over HTTP+SSE too", async ({ message }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    expect((await session.post(message))[0]).toBe(400);
    await session.stream.silence();
    await session.stream.cancel();
    expect(await upstream.sent("tools/call")).toHaveLength(0);
  });
});

test("1024 characters of both are served", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.open(upstream.mcp);
  const response = await responseIn(await session.post(call(LONGEST, LONGEST)));
  expect(response).toMatchObject({ id: LONGEST, result: {} });
});
