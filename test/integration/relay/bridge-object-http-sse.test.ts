/**
 * A modern client at a server of HTTP+SSE, where everything comes on one stream: each request has a
 * session to itself, so that a question can be assigned to its call.
 */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { askedIn, BridgeClient } from "./bridge-client.ts";
import { ANSWER, event, progress, RESULT, sessionOf, Upstream } from "../upstream.ts";

const MAX_SESSIONS = 8;
const FORM = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
const elicit = (id: string): Json => ({ id, method: "elicitation/create", params: FORM });
const ACCEPT = { action: "accept", content: { ok: true } };

/** A call that brings this on its session's stream. */
function saying(...pieces: NonNullable<Reaction["pieces"]>): Reaction {
  return { pieces, end: "never" };
}

function take(...reactions: readonly Reaction[]): Promise<Upstream> {
  const script: Script = { server: "sse", reactions: { "tools/call": reactions } };
  return Upstream.take(script, "sse");
}

describe("a call at a server of HTTP+SSE", () => {
  test("is answered, and the next one uses the same session", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "sse" });
    const client = new BridgeClient(upstream);
    for (let n = 0; n < 3; n++) expect((await client.call()).result).toBeDefined();
    expect(await upstream.sessions()).toHaveLength(1);
  });

  test("gets progress and log messages, and is asked questions in several rounds", async ({
    expect,
  }) => {
    const log = { method: "notifications/message", params: { level: "error", data: "x" } };
    const upstream = await take(
      saying(
        ...[event(progress(1)), event(log), event(elicit("s1")), { gate: "second" }],
        ...[event(elicit("s2")), { gate: "go-on" }, event(ANSWER)],
      ),
    );
    const client = new BridgeClient(upstream, {
      meta: { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" },
    });
    const { notices, result } = await client.call();
    expect(notices).toMatchObject([{ params: { progressToken: "p", progress: 1 } }, log]);
    const first = askedIn({ notices, result });
    expect(first.inputRequests).toEqual({ r1: { method: "elicitation/create", params: FORM } });
    const coming = client.retry(first, { r1: ACCEPT });
    await upstream.receivesAnswer("s1");
    await upstream.open("second");
    const second = askedIn(await coming);
    const done = client.retry(second, { r2: { action: "decline" } });
    expect(await upstream.receivesAnswer("s2")).toMatchObject({ result: { action: "decline" } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("that is parked gets no question of another call", async ({ expect }) => {
    // The upstream says what a call brings on the newest stream.
    const upstream = await take(
      saying(event(elicit("a"))),
      saying(event(elicit("b"))),
      saying(event(ANSWER)),
    );
    const client = new BridgeClient(upstream);
    const first = await client.asked();
    const second = await client.asked();
    expect((await client.call()).result).toMatchObject(RESULT);
    expect(Object.keys(first.inputRequests)).toEqual(["r1"]);
    expect(Object.keys(second.inputRequests)).toEqual(["r1"]);
    void client.retry(first, { r1: ACCEPT });
    await upstream.receivesAnswer("a");
    void client.retry(second, { r1: ACCEPT });
    await upstream.receivesAnswer("b");
    const sessions = (await upstream.log())
      .filter(({ body }) => body?.method === "tools/call" || body?.id === "a" || body?.id === "b")
      .map(sessionOf);
    expect(sessions).toHaveLength(5);
    expect(sessions[3]).toBe(sessions[0]);
    expect(sessions[4]).toBe(sessions[1]);
    expect(new Set(sessions.slice(0, 3)).size).toBe(3);
  });

  test("waits while the maximum number of calls is running, and takes the first session that is free", async ({
    expect,
  }) => {
    const upstream = await take(
      ...Array.from({ length: MAX_SESSIONS }, () => saying({ gate: "go-on" }, event(ANSWER))),
    );
    const client = new BridgeClient(upstream);
    const running = [];
    for (let n = 1; n <= MAX_SESSIONS; n++) {
      running.push(client.send("tools/call", { name: "work" }));
      await upstream.receives("tools/call", n);
    }
    const left = client.send("tools/call", { name: "left" });
    const waiting = client.call({ name: "waiting" });
    left.hangUp();
    await expect(left.answered).rejects.toThrow("gone");
    expect(await upstream.sessions()).toHaveLength(MAX_SESSIONS);
    expect(await upstream.sent("tools/call")).toHaveLength(MAX_SESSIONS);
    // The upstream answers on the newest stream.
    const last = running.pop();
    last?.hangUp();
    await expect(last?.answered).rejects.toThrow("gone");
    expect((await waiting).result).toBeDefined();
    const calls = await upstream.sent("tools/call");
    expect(calls.map(({ body }) => body?.params?.["name"])).not.toContain("left");
    const sessions = calls.map(sessionOf);
    expect(sessions[MAX_SESSIONS]).toBe(sessions[MAX_SESSIONS - 1]);
    for (const one of running) {
      one.hangUp();
      await expect(one.answered).rejects.toThrow("gone");
    }
  });

  test("whose stream breaks while it is parked ends in one error", async ({ expect }) => {
    const upstream = await take(saying(event(elicit("s1"))));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await upstream.hangUp();
    const { error } = await client.retry(asked, { r1: ACCEPT });
    expect(error?.data).toMatchObject({ upstream: upstream.slug, reason: "lost" });
    expect((await client.retry(asked, { r1: ACCEPT })).error).toEqual(error);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect((await client.call()).result).toBeDefined();
  });

  test("whose holder is lost while it is parked ends in one error", async ({ expect }) => {
    const upstream = await take(saying(event(elicit("s1"))));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await abortAllDurableObjects();
    const { error } = await client.retry(asked, { r1: ACCEPT });
    expect(error?.data).toMatchObject({ upstream: upstream.slug, reason: "lost" });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect((await client.call()).result).toBeDefined();
  });
});
