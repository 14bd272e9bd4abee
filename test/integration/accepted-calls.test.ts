/**
 * A call over HTTP+SSE is accepted on one connection and answered on another. Once it was
 * accepted it ends in exactly one answer, whenever the session's object is lost.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, test } from "vitest";

import { setLimits } from "./own-limits.ts";
import { objectOf, sseSessionId } from "./session-object.ts";
import { SseSession } from "./sse-client.ts";
import { event, jsonOf, streamOf, Upstream } from "./upstream.ts";

const ACCEPTED = [202, "Accepted"];

beforeAll(() => {
  // Soon full, and no call that a test holds becomes slow.
  setLimits({ windowBytes: 1024, stallSeconds: 10, streamAfterSeconds: 60 });
});

/** How many answers the log has, whoever has read them. */
async function answersIn(session: SseSession): Promise<number> {
  const object = await objectOf({ id: sseSessionId(session) });
  return runInDurableObject(object, (_instance, { storage }) => {
    const query = "SELECT 1 FROM events_1 WHERE kind = 'standalone'";
    return [...storage.sql.exec(query)].length;
  });
}

describe("a call that was accepted", () => {
  test("and whose object is lost at once ends in one error", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await SseSession.open(upstream.sse);
    const call = { id: "mine", method: "tools/call", params: { name: "work" } };
    expect(await session.post(call)).toEqual(ACCEPTED);
    await abortAllDurableObjects();
    expect(await session.stream.message()).toMatchObject({
      id: "mine",
      error: { code: -32603, data: { upstream: upstream.slug, reason: "lost" } },
    });
    await abortAllDurableObjects();
    await session.stream.silence();
    expect(await session.request("tools/list", {}, 2)).toMatchObject({ id: 2, result: {} });
    await session.stream.cancel();
  });

  test("one of several ends in an error, if it is the one without an answer", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await SseSession.open(upstream.sse);
    await session.post({ id: 1, method: "tools/call", params: { name: "held" } });
    await upstream.receives("tools/call");
    expect(await session.request("tools/call", { name: "b" }, 2)).toMatchObject({ id: 2 });
    await abortAllDurableObjects();
    expect(await session.stream.message()).toMatchObject({ id: 1, error: { code: -32603 } });
    await session.stream.silence();
    await session.stream.cancel();
  });

  test("and answered to a client that has not read it yet is not answered again", async ({
    expect,
  }) => {
    const long = { content: [{ type: "text", text: "x".repeat(4000) }] };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event({ id: "{{id}}", result: long })), jsonOf({ result: long })],
      },
    });
    const session = await SseSession.open(upstream.sse);
    for (const id of [1, 2]) {
      await session.post({ id, method: "tools/call", params: { name: "work" } });
    }
    // To `initialize`, and to both.
    await expect.poll(() => answersIn(session)).toBe(3);
    await abortAllDurableObjects();
    const seen = [await session.stream.message(), await session.stream.message()];
    expect(new Set(seen.map(({ id }) => id))).toEqual(new Set([1, 2]));
    for (const message of seen) expect(message).toMatchObject({ result: long });
    await session.stream.silence();
    await session.stream.cancel();
  });
});
