/**
 * A call over HTTP+SSE is accepted on one connection and answered on another. Once it was
 * accepted it ends in exactly one answer, whenever the session's object is lost.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import { initializeMessage, post } from "../client.ts";
import { objectOf, sseSessionId } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { jsonOf, Upstream } from "../upstream.ts";

const ACCEPTED = [202, "Accepted"];

/** The last thing that the log has for the client, whether or not it was read. */
async function lastIn(session: SseSession): Promise<string> {
  const object = await objectOf({ id: sseSessionId(session) });
  return runInDurableObject(object, (_instance, { storage }) => {
    const query = "SELECT data FROM events_1 WHERE kind = 'standalone' ORDER BY id DESC LIMIT 1";
    return [...storage.sql.exec<{ data: string }>(query)][0]?.data ?? "";
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

  test("beside others ends in an error if it is the one without an answer", async ({ expect }) => {
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

  test("in a batch ends in an error if it is the one without an answer", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await SseSession.connect(upstream.sse);
    await session.post(initializeMessage("2025-03-26"));
    expect(await session.stream.message()).toMatchObject({ result: {} });
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "held" } },
      { jsonrpc: "2.0", id: 2, method: "ping" },
    ];
    expect((await post(session.endpoint, batch, { Accept: undefined })).status).toBe(202);
    expect(await session.stream.message()).toMatchObject({ id: 2, result: {} });
    await upstream.receives("tools/call");
    await abortAllDurableObjects();
    expect(await session.stream.message()).toMatchObject({ id: 1, error: { code: -32603 } });
    await session.stream.silence();
    await session.stream.cancel();
  });

  test("and whose answer its client has not read yet is not answered again", async ({ expect }) => {
    const long = { content: [{ type: "text", text: "x".repeat(60_000) }] };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": Array.from({ length: 5 }, () => jsonOf({ result: long })) },
    });
    const session = await SseSession.open(upstream.sse);
    // Five fill the window, so that the sixth waits in the log for its reader.
    const ids = [1, 2, 3, 4, 5, 6];
    for (const id of ids) {
      await session.post({ id, method: "tools/call", params: { name: "work" } });
      await expect.poll(() => lastIn(session)).toContain(`"id":${id},`);
    }
    await abortAllDurableObjects();
    for (const id of ids) {
      expect(await session.stream.message()).toMatchObject({ id, result: id === 6 ? {} : long });
    }
    await session.stream.silence();
    await session.stream.cancel();
  });
});
