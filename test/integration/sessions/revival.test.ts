/**
 * The object of a session is lost in mid-call. The call is never sent again: it is taken up where
 * the upstream allows it, and ends in one error where it does not. The client gets everything once.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES } from "../asking.ts";
import { Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { objectOf } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { event, LOG, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

const TOKEN = { _meta: { progressToken: "p" } } as const;
const NEVER = { gate: "never" } as const;

/** An upstream whose call says this, and then nothing more on this connection. */
function saying(...events: readonly string[]): Promise<Upstream> {
  return Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(...events, NEVER)] },
  });
}

/** What the upstream says when the stream of its one call is taken up. */
async function continueWith(upstream: Upstream, ...events: readonly Json[]): Promise<void> {
  const [call] = await upstream.receives("tools/call");
  const meta = call?.body?.params?.["_meta"] as Json | undefined;
  const pieces = events.map((message, n) =>
    event(message, { id: `r-${n}` })
      .replaceAll('"{{id}}"', JSON.stringify(call?.body?.id))
      .replaceAll('"{{token}}"', JSON.stringify(meta?.["progressToken"] ?? null)),
  );
  const reaction: Reaction = streamOf(...pieces);
  await upstream.script({ server: "legacy", reactions: { GET: [reaction] } });
}

const ANSWER = { id: "{{id}}", result: RESULT } as const;

describe("a call whose upstream gives event ids", () => {
  test("is resumed after the last of them, and the client's stream goes on", async ({ expect }) => {
    const upstream = await saying(
      event(progress(1), { id: "e-1" }),
      event(progress(2), { id: "e-2" }),
    );
    const session = await Session.open(upstream.mcp, { revision: "2025-06-18" });
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const seen = [await stream.next(), await stream.next()];
    await continueWith(upstream, progress(3), ANSWER);
    await abortAllDurableObjects();
    seen.push(...(await stream.rest()));
    expect(seen.map((one): unknown => JSON.parse(one?.data ?? ""))).toMatchObject([
      { params: { progressToken: "p", progress: 1 } },
      { params: { progressToken: "p", progress: 2 } },
      { params: { progressToken: "p", progress: 3 } },
      { id: "mine", result: RESULT },
    ]);
    const seqs = seen.map((one) => /\.(\d+)-/.exec(one?.id ?? "")?.[1]);
    expect(seqs).toEqual(["1", "2", "3", "4"]);
    const [resumed] = await upstream.sent("GET");
    const [call] = await upstream.sent("tools/call");
    expect(resumed?.headers).toMatchObject({
      "last-event-id": "e-2",
      "mcp-session-id": call?.headers["mcp-session-id"],
      "mcp-protocol-version": "2025-06-18",
    });
    expect(await upstream.sent("GET")).toHaveLength(1);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await upstream.sessions()).toHaveLength(1);
  });

  test("is resumed from its priming event when nothing else had arrived", async ({ expect }) => {
    const upstream = await saying("id: e-0\ndata:\n\n");
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    expect((await stream.next())?.data).toBe("");
    await continueWith(upstream, progress(1), ANSWER);
    await abortAllDurableObjects();
    expect(await stream.message()).toMatchObject({ params: { progress: 1 } });
    expect(await stream.message()).toEqual({ jsonrpc: "2.0", id: "mine", result: RESULT });
    expect(await stream.rest()).toEqual([]);
    const [resumed] = await upstream.sent("GET");
    expect(resumed?.headers["last-event-id"]).toBe("e-0");
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("is resumed although its client has gone, and the client resumes it later", async ({
    expect,
  }) => {
    const upstream = await saying(event(progress(1), { id: "e-1" }));
    const session = await Session.open(upstream.mcp);
    const first = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const priming = await first.next();
    await first.message();
    await first.cancel();
    await continueWith(upstream, progress(2), ANSWER);
    await abortAllDurableObjects();
    for (let n = 0; n < 2; n++) {
      const again = await session.get({ "Last-Event-ID": priming?.id ?? "" });
      expect(await messagesOf(again)).toMatchObject([
        { params: { progress: 1 } },
        { params: { progress: 2 } },
        { id: "mine", result: RESULT },
      ]);
      await abortAllDurableObjects();
    }
    expect(await upstream.sent("GET")).toHaveLength(1);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("may be lost again and again", async ({ expect }) => {
    const upstream = await saying(event(progress(1), { id: "e-1" }));
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    await stream.message();
    const [call] = await upstream.sent("tools/call");
    const progressToken = call?.body?.id;
    for (let n = 2; n <= 4; n++) {
      const params = { progressToken, progress: n };
      const more = event({ method: "notifications/progress", params }, { id: `e-${n}` });
      await upstream.script({ server: "legacy", reactions: { GET: [streamOf(more, NEVER)] } });
      await abortAllDurableObjects();
      expect(await stream.message()).toMatchObject({ params: { progressToken: "p", progress: n } });
    }
    await continueWith(upstream, ANSWER);
    await abortAllDurableObjects();
    expect(await stream.message()).toMatchObject({ id: "mine", result: RESULT });
    const resumes = await upstream.sent("GET");
    expect(resumes.map(({ headers }) => headers["last-event-id"])).toEqual([
      "e-1",
      "e-2",
      "e-3",
      "e-4",
    ]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("whose question was open is answered, and goes on", async ({ expect }) => {
    const question = { id: 77, method: "elicitation/create", params: { message: "?" } };
    const upstream = await saying(event(question, { id: "e-1" }));
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const ask = await stream.message();
    await continueWith(upstream, LOG, ANSWER);
    await abortAllDurableObjects();
    await session.answer(ask.id, { result: { action: "accept" } });
    expect(await upstream.receivesAnswer(77)).toMatchObject({ result: { action: "accept" } });
    expect(await stream.message()).toMatchObject(LOG);
    expect(await stream.message()).toMatchObject({ id: "mine", result: RESULT });
    const answers = (await upstream.log()).filter(({ body }) => body?.id === 77);
    expect(answers).toHaveLength(1);
  });

  test("but cannot be resumed ends in one error", async ({ expect }) => {
    const upstream = await saying(event(progress(1), { id: "e-1" }));
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    await stream.message();
    await upstream.script({
      server: "legacy",
      reactions: { GET: [{ status: 400, isLasting: true }] },
    });
    await abortAllDurableObjects();
    expect(await stream.message()).toMatchObject({
      id: "mine",
      error: { code: -32603, data: { upstream: upstream.slug } },
    });
    expect(await stream.rest()).toEqual([]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("can still be cancelled by its client", async ({ expect }) => {
    const upstream = await saying(event(progress(1), { id: "e-1" }));
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    await stream.message();
    await upstream.script({
      server: "legacy",
      reactions: { GET: [{ ...streamOf(NEVER), isLasting: true }] },
    });
    await abortAllDurableObjects();
    await upstream.receives("GET");
    await session.notify("notifications/cancelled", { requestId: "mine", reason: "bored" });
    const [cancelled] = await upstream.receives("notifications/cancelled");
    const [call] = await upstream.sent("tools/call");
    expect(cancelled?.body?.params).toEqual({ requestId: call?.body?.id, reason: "bored" });
    expect((await stream.rest()).filter(({ data }) => data !== "")).toEqual([]);
  });
});

describe("a call whose upstream gives no event ids", () => {
  test("ends in exactly one error, which says that the outcome is unknown", async ({ expect }) => {
    const upstream = await saying(event(progress(1)), event(progress(2)));
    const session = await Session.open(upstream.mcp);
    const stream = new EventReader(await session.callTool("work", TOKEN, "mine"));
    const priming = await stream.next();
    expect([await stream.message(), await stream.message()]).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
    ]);
    await abortAllDurableObjects();
    const error = await stream.message();
    expect(error).toMatchObject({
      id: "mine",
      error: { code: -32603, data: { upstream: upstream.slug, reason: "lost" } },
    });
    expect(error.error?.message).toContain("unknown");
    expect(await stream.rest()).toEqual([]);
    // Whoever resumes gets the same, and no other end.
    await abortAllDurableObjects();
    const again = await messagesOf(await session.get({ "Last-Event-ID": priming?.id ?? "" }));
    expect(again).toHaveLength(3);
    expect(again.at(-1)).toEqual(error);
    expect(await upstream.sent("GET")).toHaveLength(0);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await responseIn(await session.callTool("next"))).toHaveProperty("result");
  });

  test("and that had become a stream because it was slow ends in the same error", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await Session.open(upstream.mcp);
    const response = await session.callTool("work", {}, "mine");
    await abortAllDurableObjects();
    expect(await messagesOf(response)).toMatchObject([{ id: "mine", error: { code: -32603 } }]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("and that had no answer yet gets one error at once", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "never" }] },
    });
    const session = await Session.inUse(upstream.mcp);
    const pending = session.callTool("work", {}, "mine");
    await upstream.receives("tools/call");
    await abortAllDurableObjects();
    const { id, error } = await responseIn(await pending);
    expect([id, error?.code]).toEqual(["mine", -32603]);
    expect(error?.message).toContain("unknown");
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await responseIn(await session.callTool("next"))).toHaveProperty("result");
  });

  test("and came over HTTP+SSE ends in one error, on its only stream", async ({ expect }) => {
    const upstream = await saying(event(progress(1)));
    const session = await SseSession.open(upstream.sse);
    const params = { name: "work", ...TOKEN };
    await session.post({ id: "mine", method: "tools/call", params });
    expect(await session.stream.message()).toMatchObject({ params: { progress: 1 } });
    await abortAllDurableObjects();
    expect(await session.stream.message()).toMatchObject({ id: "mine", error: { code: -32603 } });
    expect(await session.request("tools/call", { name: "next" }, 2)).toMatchObject({ id: 2 });
    await session.stream.silence();
    await session.stream.cancel();
    expect(await upstream.sent("tools/call")).toHaveLength(2);
  });
});

test("a call whose object is lost before its first event was stored ends in its own answer", async ({
  expect,
}) => {
  const upstream = await saying(event(LOG));
  const session = await Session.inUse(upstream.mcp);
  await runInDurableObject(await objectOf(session), (_instance, { storage }) => {
    Object.assign(storage, { sync: () => new Promise(() => undefined) });
  });
  const response = await session.callTool("work", {}, "mine");
  await abortAllDurableObjects();
  // Whatever can be had of it: never the stream of what belongs to no request in its place.
  const messages = await messagesOf(response);
  expect(messages.at(-1)).toMatchObject({ id: "mine", error: { code: -32603 } });
  expect(await upstream.sent("tools/call")).toHaveLength(1);
});

test("each call of a lost batch gets an answer of its own", async ({ expect }) => {
  const held: Reaction = { heldBy: "never" };
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event({ id: "{{id}}", result: RESULT })), held, held] },
  });
  const session = await Session.open(upstream.mcp, { revision: "2025-03-26" });
  const calls = [1, "1", 2].map((id) => ({ id, method: "tools/call", params: { name: "x" } }));
  const stream = new EventReader(await session.post(calls));
  const first = await stream.message();
  await upstream.receives("tools/call", 3);
  await abortAllDurableObjects();
  const rest = (await stream.rest()).map(({ data }) => JSON.parse(data) as Json);
  const ends = [first, ...rest];
  expect(new Set(ends.map(({ id }) => id))).toEqual(new Set([1, "1", 2]));
  expect(ends).toHaveLength(3);
  expect(ends.filter((end) => "error" in end)).toHaveLength(2);
  expect(await upstream.sent("tools/call")).toHaveLength(3);
});
