/**
 * What modern requests wish for each by itself, of a legacy session that they share: log messages of
 * a level, progress under a token of their own, and an end when their client hangs up.
 */

import { describe, test, vi } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { type Asking, BridgeClient } from "./bridge-client.ts";
import { ANSWER, event, jsonOf, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

const LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const level = (name: unknown): Asking => ({ meta: { [LEVEL_KEY]: name } });
const log = (name: string): Json => ({
  method: "notifications/message",
  params: { level: name, data: "x" },
});
const LOGS = ["debug", "info", "error"].map((name) => event(log(name)));
const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const ACCEPT = { action: "accept", content: { ok: true } };

function calling(...reactions: readonly Reaction[]): Promise<Upstream> {
  return Upstream.take({ server: "legacy", reactions: { "tools/call": reactions } });
}

/** The levels that were set at a server and the calls in between, in order. */
async function levelsAndCalls(upstream: Upstream): Promise<readonly unknown[]> {
  const kinds = new Set(["logging/setLevel", "tools/call"]);
  const records = (await upstream.log()).filter(({ body }) => kinds.has(body?.method ?? ""));
  return records.map(({ body }) => body?.params?.["level"] ?? body?.method);
}

describe("log messages", () => {
  test("reach a request from its own level on, which is set at the server before the call", async ({
    expect,
  }) => {
    const upstream = await calling(streamOf(...LOGS, event(ANSWER)));
    const { notices, result } = await new BridgeClient(upstream).call({}, level("info"));
    expect(notices).toEqual([log("info"), log("error")]);
    expect(result).toMatchObject(RESULT);
    expect(await levelsAndCalls(upstream)).toEqual(["info", "tools/call"]);
  });

  test("do not reach a request that names no level, and no level is set at the server", async ({
    expect,
  }) => {
    const upstream = await calling(streamOf(...LOGS, event(ANSWER)));
    expect((await new BridgeClient(upstream).call()).notices).toEqual([]);
    expect(await levelsAndCalls(upstream)).toEqual(["tools/call"]);
  });

  test("of two concurrent requests are asked for at the lower level, and each request gets those of its own", async ({
    expect,
  }) => {
    const reaction = streamOf({ gate: "log" }, ...LOGS, event(ANSWER));
    const upstream = await calling(reaction, reaction, reaction, reaction);
    const client = new BridgeClient(upstream);
    const calls = [];
    for (const name of ["error", "debug", "info"]) {
      calls.push(client.call({}, level(name)));
      await upstream.receives("tools/call", calls.length);
    }
    await upstream.open("log");
    const received = (await Promise.all(calls)).map(({ notices }) => notices);
    expect(received).toEqual([
      [log("error")],
      [log("debug"), log("info"), log("error")],
      [log("info"), log("error")],
    ]);
    // Who wants less than another is served by what the other has.
    expect(await levelsAndCalls(upstream)).toEqual([
      "error",
      "tools/call",
      "debug",
      "tools/call",
      "tools/call",
    ]);
    await client.call({}, level("info"));
    expect((await levelsAndCalls(upstream)).slice(5)).toEqual(["info", "tools/call"]);
    await client.call({}, level("info"));
    expect((await levelsAndCalls(upstream)).slice(7)).toEqual(["tools/call"]);
  });

  test("of a retry are asked for at its level once, before its answers are sent", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(ELICIT), { gate: "log" }, ...LOGS, event(ANSWER))],
      },
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked({}, level("error"));
    const done = client.retry(asked, { r1: ACCEPT }, level("debug"));
    const again = client.retry(asked, { r1: ACCEPT }, level("debug"));
    await upstream.receivesAnswer("s1");
    expect(await levelsAndCalls(upstream)).toEqual(["error", "tools/call", "debug"]);
    const order = (await upstream.log()).map(({ body }) => body?.params?.["level"] ?? body?.id);
    expect(order.indexOf("debug")).toBeLessThan(order.indexOf("s1"));
    await upstream.open("log");
    const received = (await Promise.all([done, again])).map(({ notices }) => notices.length);
    // The newest one hears what the server says meanwhile.
    expect(received).toEqual([0, 3]);
  });

  test("of a server that refuses a level are not asked for at that level again", async ({
    expect,
  }) => {
    const error = { code: -32602, message: "No" };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "logging/setLevel": [{ ...jsonOf({ error }), isLasting: true }] },
    });
    const client = new BridgeClient(upstream);
    for (const name of ["info", "info", "error"]) await client.call({}, level(name));
    expect(await levelsAndCalls(upstream)).toEqual([
      ...["info", "tools/call", "tools/call", "error", "tools/call"],
    ]);
  });

  test("of an unknown level are refused, and nothing is sent to the server", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    for (const name of ["loud", "", 7, null, {}]) {
      const { error } = await new BridgeClient(upstream).call({}, level(name));
      expect(error).toMatchObject({ code: -32602 });
      expect(error?.message).toContain("debug, info");
    }
    expect(await upstream.log()).toEqual([]);
  });

  test("of a server without logging are not asked for", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", capabilities: { tools: {} } });
    expect((await new BridgeClient(upstream).call({}, level("debug"))).result).toBeDefined();
    expect(await levelsAndCalls(upstream)).toEqual(["tools/call"]);
  });

  test("of a server that refuses the level arrive unfiltered", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "logging/setLevel": [{ status: 500 }],
        "tools/call": [streamOf(...LOGS, event(ANSWER))],
      },
    });
    const { notices, result } = await new BridgeClient(upstream).call({}, level("error"));
    expect(notices).toEqual([log("error")]);
    expect(result).toMatchObject(RESULT);
  });

  test("are asked for again after the server has forgotten the session", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const client = new BridgeClient(upstream);
    await client.call({}, level("info"));
    await upstream.forget();
    await client.call({}, level("info"));
    expect(await levelsAndCalls(upstream)).toEqual([
      ...["info", "tools/call", "tools/call", "info", "tools/call"],
    ]);
  });

  test("that arrive outside any stream belong to the only running call", async ({ expect }) => {
    const upstream = await calling(streamOf({ gate: "go-on" }, event(ANSWER)));
    const sent = new BridgeClient(upstream, level("info")).send("tools/call", { name: "work" });
    await upstream.receives("tools/call");
    await upstream.send(log("debug"));
    await upstream.send(log("error"));
    await vi.waitFor(() => expect(sent.notices).toEqual([log("error")]), { timeout: 30_000 });
    await upstream.open("go-on");
    expect((await sent.answered).result).toMatchObject(RESULT);
  });
});

describe("progress", () => {
  test.for(["t", 0, ""])("comes under the request's own token: %j", async (token, { expect }) => {
    const upstream = await calling(streamOf(event(progress(1)), event(progress(2)), event(ANSWER)));
    const { notices } = await new BridgeClient(upstream).call(
      {},
      { meta: { progressToken: token } },
    );
    expect(notices).toEqual(
      [1, 2].map((n) => ({
        method: "notifications/progress",
        params: { progressToken: token, progress: n },
      })),
    );
    const [call] = await upstream.sent("tools/call");
    const sent = call?.body?.params?.["_meta"] as Json;
    expect(sent["progressToken"]).not.toBe(token);
    expect(Object.keys(sent)).toEqual(["progressToken"]);
  });

  test("is dropped while the client decides, and then arrives under its new token", async ({
    expect,
  }) => {
    const upstream = await calling(
      streamOf(
        ...[event(progress(1)), event(ELICIT), { gate: "parked" }, event(progress(2))],
        ...[event(log("error")), { gate: "back" }, event(progress(3)), event(ANSWER)],
      ),
    );
    const client = new BridgeClient(upstream);
    const first = client.send(
      "tools/call",
      { name: "work", arguments: {} },
      {
        meta: { progressToken: "a", [LEVEL_KEY]: "debug" },
      },
    );
    const { result } = await first.answered;
    await upstream.open("parked");
    const done = client.call(
      { requestState: result?.["requestState"], inputResponses: { r1: ACCEPT } },
      { meta: { progressToken: "b" } },
    );
    await upstream.receivesAnswer("s1");
    await upstream.open("back");
    const { notices } = await done;
    expect(first.notices).toMatchObject([{ params: { progressToken: "a", progress: 1 } }]);
    expect(notices.at(-1)).toMatchObject({ params: { progressToken: "b", progress: 3 } });
    expect(notices.every(({ params }) => params?.["progressToken"] === "b")).toBe(true);
  });
});

/** The request that was cancelled at the server. */
async function cancelled(upstream: Upstream): Promise<unknown> {
  const [record] = await upstream.receives("notifications/cancelled");
  return record?.body?.params?.["requestId"];
}

describe("a client that hangs up", () => {
  test("before the first answer has its call cancelled", async ({ expect }) => {
    const upstream = await calling(streamOf({ gate: "never" }));
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    const [call] = await upstream.receives("tools/call");
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("The client has gone");
    expect(await cancelled(upstream)).toBe(call?.body?.id);
  });

  test("in the middle of its stream has its call cancelled, and no other", async ({ expect }) => {
    const reaction = streamOf(event(progress(1)), { gate: "go-on" }, event(ANSWER));
    const upstream = await calling(reaction, reaction);
    const client = new BridgeClient(upstream, { meta: { progressToken: 1 } });
    const other = client.send("tools/call", { name: "other" });
    await upstream.receives("tools/call");
    const sent = client.send("tools/call", { name: "work" });
    await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("The client has gone");
    const calls = await upstream.sent("tools/call");
    const id = calls.find(({ body }) => body?.params?.["name"] === "work")?.body?.id;
    expect(await cancelled(upstream)).toBe(id);
    await upstream.open("go-on");
    expect((await other.answered).result).toMatchObject(RESULT);
    expect(await upstream.sent("notifications/cancelled")).toHaveLength(1);
  });

  test("before the call is sent causes no request", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("The client has gone");
    expect(await upstream.sent("tools/call")).toEqual([]);
  });

  test("while its log level is being set delivers no answers, and its call stays parked", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))],
        "logging/setLevel": [{ ...jsonOf({ result: {} }), heldBy: "level" }],
      },
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { requestState } = asked;
    const params = { name: "work", arguments: {}, requestState, inputResponses: { r1: ACCEPT } };
    const sent = client.send("tools/call", params, level("info"));
    await upstream.receives("logging/setLevel");
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("The client has gone");
    // It is not taken before the one that has left.
    const done = client.retry(asked, { r1: { action: "decline" } }, level("info"));
    await upstream.open("level");
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: { action: "decline" } });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("POST")).toHaveLength(1);
    expect(await upstream.sent("notifications/cancelled")).toEqual([]);
  });

  test("after its retry with answers has its call cancelled, and a later retry gets an error that says so", async ({
    expect,
  }) => {
    const upstream = await calling(streamOf(event(ELICIT), { gate: "never" }));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { requestState } = asked;
    const sent = client.send("tools/call", {
      ...{ name: "work", arguments: {}, requestState, inputResponses: { r1: ACCEPT } },
    });
    await upstream.receivesAnswer("s1");
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("The client has gone");
    const [call] = await upstream.sent("tools/call");
    expect(await cancelled(upstream)).toBe(call?.body?.id);
    expect((await client.retry(asked, { r1: ACCEPT })).error?.message).toContain("cancelled");
    expect(await upstream.sent("POST")).toHaveLength(1);
  });
});
