/**
 * A call that is parked, and what may happen meanwhile: its holder loses its memory, its server dies,
 * its client never comes back. The call is never sent again, and a client that retries is told its state.
 */

import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test, vi } from "vitest";

import { BridgeObject } from "../../../durable-objects/bridge-object.ts";
import type { Reaction, Recorded } from "../../support/scripted-upstream-script.ts";
import {
  type AskedResult,
  askedIn,
  BridgeClient,
  continueWith,
  holderOf,
} from "./bridge-client.ts";
import { bridgesOf } from "./bridge-listeners.ts";
import { within } from "../bounded.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

const PARKED_MS = 120_000;
const MAX_PARKED = 5;
setLimits({ parkedSeconds: PARKED_MS / 1000, parkedCalls: MAX_PARKED, bridgeIdleMinutes: 1 });

const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const ACCEPT = { action: "accept", content: { ok: true } };
const NEVER = { gate: "never" } as const;

function calling(...pieces: NonNullable<Reaction["pieces"]>): Promise<Upstream> {
  return Upstream.take({ server: "legacy", reactions: { "tools/call": [streamOf(...pieces)] } });
}

/**
 * The memory of every holder goes, without a warning. None is let go by itself here while a stream is
 * open, so that is how eviction is seen.
 */
const lose = (): Promise<void> => abortAllDurableObjects();

/** The requests by which the stream of a call was resumed. */
async function resumptions(upstream: Upstream): Promise<readonly Recorded[]> {
  const gets = await upstream.sent("GET");
  return gets.filter(({ headers }) => headers["last-event-id"] !== undefined);
}

describe("while its holder is lost, a parked call", () => {
  test("is resumed by its event ids, and answered in the session that it was asked in", async ({
    expect,
  }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    await continueWith(upstream, ANSWER);
    const { result } = await client.retry(asked, { r1: ACCEPT });
    expect(result).toMatchObject({ ...RESULT, resultType: "complete" });
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: ACCEPT });
    const [resumed] = await resumptions(upstream);
    const [call] = await upstream.sent("tools/call");
    expect(resumed?.headers).toMatchObject({
      ...{ "last-event-id": "e-1", "mcp-session-id": call?.headers["mcp-session-id"] },
    });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    // It is still known what it came to when nothing runs any more.
    await within(evictDurableObject(holderOf(asked)), "an idle object to be let go");
    expect((await client.retry(asked, { r1: ACCEPT })).result).toEqual(result);
    expect(await upstream.sent("POST")).toHaveLength(1);
  });

  test("is resumed with the log level of its retry", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    const log = { method: "notifications/message", params: { level: "info", data: "x" } };
    await continueWith(upstream, log, ANSWER);
    const meta = { "io.modelcontextprotocol/logLevel": "info" };
    const { result, notices } = await client.retry(asked, { r1: ACCEPT }, { meta });
    expect(result).toMatchObject(RESULT);
    expect(notices).toEqual([log]);
    const [sent] = await upstream.sent("logging/setLevel");
    expect(sent?.body?.params).toEqual({ level: "info" });
  });

  test("is resumed by a retry that comes after its holder was evicted", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    for (let n = 0; n < 2; n++) {
      // Somebody else, who is refused, brings the object back to life.
      const other = client.retry(asked, { r1: ACCEPT }, { principal: "somebody else" });
      expect((await other).error).toMatchObject({ code: -32602 });
      await within(evictDurableObject(holderOf(asked)), "an idle object to be let go");
    }
    await continueWith(upstream, ANSWER);
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: ACCEPT });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("stays while a mistake in its entry keeps the server off", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    const servers = { [upstream.slug]: { url: "not a url" } };
    await runInDurableObject(holderOf(asked), async (_, state) => {
      const mistaken = { ...env, MCP_SERVERS: JSON.stringify(servers) };
      await new BridgeObject(state, mistaken).alarm();
      expect(await state.storage.getAlarm()).not.toBeNull();
    });
    await lose();
    await continueWith(upstream, ANSWER);
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ result: ACCEPT });
  });

  test("gets another question, and is resumed a second time", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const first = await client.asked();
    await lose();
    await continueWith(upstream, { ...ELICIT, id: "s2" });
    const coming = client.retry(first, { r1: ACCEPT });
    const second = askedIn(await coming);
    expect(second.inputRequests).toEqual({
      r2: { method: ELICIT.method, params: ELICIT.params },
    });
    await lose();
    expect(askedIn(await client.retry(first, { r1: ACCEPT }))).toEqual(second);
    await continueWith(upstream, ANSWER);
    expect((await client.retry(second, { r2: ACCEPT })).result).toMatchObject(RESULT);
    expect((await upstream.receives("POST", 2)).map(({ body }) => body?.id)).toEqual(["s1", "s2"]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("sends the answer that its server did not take before the next round", async ({
    expect,
  }) => {
    const questions = [event(ELICIT, { id: "e-1" }), event({ ...ELICIT, id: "s2" }, { id: "e-2" })];
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(...questions, NEVER)],
        response: [{ status: 503, isLasting: true }],
      },
    });
    const client = new BridgeClient(upstream);
    const second = askedIn(await client.retry(await client.asked(), { r1: ACCEPT }));
    expect(Object.keys(second.inputRequests)).toEqual(["r2"]);
    await lose();
    await continueWith(upstream, { gate: "go-on" }, ANSWER);
    const last = client.retry(second, { r2: ACCEPT });
    const taken = async (): Promise<unknown> =>
      (await upstream.log())
        .filter(({ status, body }) => status === 202 && body?.method === undefined)
        .map(({ body }) => body?.id);
    await vi.waitFor(async () => expect(await taken()).toEqual(["s1", "s2"]), { timeout: 30_000 });
    await upstream.open("go-on");
    expect((await last).result).toMatchObject(RESULT);
  });

  test.for([
    [event(progress(1), { id: "e-1" })],
    // The stream was primed, and its messages have no ids.
    ["id: e-1\ndata:\n\n", event(progress(1))],
  ])(
    "is resumed on its own stream, whatever stream its question came on: %j",
    async (pieces, { expect }) => {
      const upstream = await calling(...pieces, NEVER);
      const client = new BridgeClient(upstream, { meta: { progressToken: 1 } });
      const sent = client.send("tools/call", { name: "work", arguments: {} });
      await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
      await upstream.send(ELICIT, "g-1");
      const asked = askedIn(await sent.answered);
      await lose();
      await continueWith(upstream, ANSWER);
      expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
      expect((await resumptions(upstream)).at(-1)?.headers["last-event-id"]).toBe("e-1");
    },
  );

  test("is asked what its server put on the standalone stream meanwhile", async ({ expect }) => {
    const upstream = await calling(event(progress(1), { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream, { meta: { progressToken: 1 } });
    const sent = client.send("tools/call", { name: "work", arguments: {} });
    await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
    await upstream.send(ELICIT, "g-1");
    const first = askedIn(await sent.answered);
    const missed = event({ ...ELICIT, id: "s2" }, { id: "g-2" });
    await lose();
    const [call] = await upstream.sent("tools/call");
    const answer = event(ANSWER, { id: "r-1" }).replace('"{{id}}"', JSON.stringify(call?.body?.id));
    const streams = [streamOf(missed, NEVER), streamOf({ gate: "go-on" }, answer)];
    await upstream.script({ server: "legacy", reactions: { resume: streams } });
    const second = askedIn(await client.retry(first, { r1: ACCEPT }));
    expect(Object.keys(second.inputRequests)).toEqual(["r2"]);
    const last = client.retry(second, { r2: ACCEPT });
    expect(await upstream.receivesAnswer("s2")).toMatchObject({ result: ACCEPT });
    await upstream.open("go-on");
    expect((await last).result).toMatchObject(RESULT);
    const resumed = await resumptions(upstream);
    expect(resumed.map(({ headers }) => headers["last-event-id"])).toEqual(["g-1", "e-1"]);
  });

  test("is asked again on the standalone stream, and answered there", async ({ expect }) => {
    const upstream = await calling(event(progress(1), { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream, { meta: { progressToken: 1 } });
    const sent = client.send("tools/call", { name: "work", arguments: {} });
    await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
    await upstream.send(ELICIT);
    const first = askedIn(await sent.answered);
    await lose();
    const gets = (await upstream.sent("GET")).length;
    await continueWith(upstream, { gate: "go-on" }, ANSWER);
    const coming = client.retry(first, { r1: ACCEPT });
    // The standalone stream, and that of the call.
    await upstream.receives("GET", gets + 2);
    await upstream.send({ ...ELICIT, id: "s2" });
    const last = client.retry(askedIn(await coming), { r2: ACCEPT });
    expect(await upstream.receivesAnswer("s2")).toMatchObject({ result: ACCEPT });
    await upstream.open("go-on");
    expect((await last).result).toMatchObject(RESULT);
  });

  test("without event ids ends in one error, and is cancelled at its server", async ({
    expect,
  }) => {
    const upstream = await calling(event(ELICIT), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    const { error } = await client.retry(asked, { r1: ACCEPT });
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("unknown") as string,
      data: { upstream: upstream.slug, reason: "lost" },
    });
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32603 } });
    const [cancelled] = await upstream.receives("notifications/cancelled");
    const [call] = await upstream.sent("tools/call");
    expect(cancelled?.body?.params?.["requestId"]).toBe(call?.body?.id);
    expect((await client.retry(asked, { r1: ACCEPT })).error).toEqual(error);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    expect(await upstream.sent("POST")).toHaveLength(1);
  });

  test("of a session that its server has forgotten ends in one error", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await lose();
    await upstream.forget();
    const { error } = await client.retry(asked, { r1: ACCEPT });
    expect(error?.data).toMatchObject({ upstream: upstream.slug });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
    // Others open a session of their own, and go on.
    expect((await client.call()).result).toBeDefined();
  });
});

describe("a call whose holder is lost in the middle of it", () => {
  test("while it was not parked ends in one error, and is not sent again", async ({ expect }) => {
    const upstream = await calling(event(progress(1)), NEVER);
    const sent = new BridgeClient(upstream, { meta: { progressToken: 5 } }).send("tools/call", {
      name: "work",
    });
    await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
    await abortAllDurableObjects();
    const { error } = await sent.answered;
    expect(error).toMatchObject({ code: -32603, data: { reason: "lost" } });
    expect(error?.message).toContain(`"${upstream.slug}"`);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("before its first message ends in the same error", async ({ expect }) => {
    const upstream = await calling(NEVER);
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    await upstream.receives("tools/call");
    await abortAllDurableObjects();
    expect((await sent.answered).error).toMatchObject({ code: -32603, data: { reason: "lost" } });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("after its questions were answered is resumed for the client that waits", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(event(ELICIT, { id: "e-1" }), NEVER)],
        response: [{ status: 202, heldBy: "never" }],
      },
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const coming = client.retry(asked, { r1: ACCEPT });
    await upstream.receivesAnswer("s1");
    await continueWith(upstream, ANSWER);
    await abortAllDurableObjects();
    expect((await coming).result).toMatchObject(RESULT);
    // Nobody knows whether they had come to the server; it knows them by their id.
    const [answer, ...again] = (await upstream.sent("POST")).map(({ body }) => body);
    expect(again).toEqual([answer]);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("goes on after the last notification that its client has", async ({ expect }) => {
    const upstream = await calling(
      event(ELICIT, { id: "e-1" }),
      { gate: "go" },
      event(progress(1), { id: "e-2" }),
      NEVER,
    );
    const client = new BridgeClient(upstream, { meta: { progressToken: 5 } });
    const { requestState } = await client.asked();
    const back = { name: "work", arguments: {}, requestState, inputResponses: { r1: ACCEPT } };
    const sent = client.send("tools/call", back);
    await upstream.receivesAnswer("s1");
    await upstream.open("go");
    await vi.waitFor(() => expect(sent.notices).toHaveLength(1), { timeout: 30_000 });
    await continueWith(upstream, ANSWER);
    await abortAllDurableObjects();
    expect((await sent.answered).result).toMatchObject(RESULT);
    const resumed = await resumptions(upstream);
    expect(resumed.map(({ headers }) => headers["last-event-id"])).toEqual(["e-2"]);
    expect(sent.notices).toHaveLength(1);
  });
});

describe("a server that goes while its call is parked", () => {
  test.for(["close", "reset"] as const)(
    "with a %s of its stream leaves one error to the client that comes back",
    async (end, { expect }) => {
      const upstream = await Upstream.take({
        server: "legacy",
        reactions: { "tools/call": [{ ...streamOf(event(ELICIT), { gate: "go" }), end }] },
      });
      const client = new BridgeClient(upstream);
      const asked = await client.asked();
      await upstream.open("go");
      const { error } = await client.retry(asked, { r1: ACCEPT });
      expect(error).toMatchObject({
        ...{ code: -32603, data: { upstream: upstream.slug, reason: "lost" } },
      });
      expect((await client.retry(asked, { r1: ACCEPT })).error).toEqual(error);
      expect(await upstream.sent("tools/call")).toHaveLength(1);
    },
  );

  test("after it has answered leaves that answer", async ({ expect }) => {
    const upstream = await calling(event(ELICIT), { gate: "go" }, event(ANSWER));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await upstream.open("go");
    await vi.waitFor(
      async () => {
        expect(await storedIn(asked)).toMatchObject({ ended: 1 });
      },
      { timeout: 30_000 },
    );
    await abortAllDurableObjects();
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    expect(await upstream.sent("POST")).toEqual([]);
  });

  test("for a moment, with event ids, is reconnected to", async ({ expect }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1", retry: 10 }), { gate: "go" });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const gets = (await upstream.sent("GET")).length;
    await continueWith(upstream, progress(1), ANSWER);
    await upstream.open("go");
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    const resumed = (await upstream.sent("GET")).slice(gets);
    expect(resumed.map(({ headers }) => headers["last-event-id"])).toContain("e-1");
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });
});

interface StoredCalls {
  readonly calls: number;
  readonly ended: number;
  readonly alarm: number | null;
}

/** What the holder of a call has written. */
function storedIn(asked: AskedResult): Promise<StoredCalls> {
  return runInDurableObject(holderOf(asked), async (_instance, { storage }) => {
    const count = (where: string): number =>
      storage.sql
        .exec<{ n: number }>(`SELECT count(*) AS n FROM parked_calls_1 WHERE ${where}`)
        .one().n;
    const alarm = await storage.getAlarm();
    return { calls: count("1"), ended: count("is_over = 1"), alarm };
  });
}

/** Lets so much time pass as a holder sees it, and rings its alarm. */
async function later(asked: AskedResult, ms: number): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(holderOf(asked));
}

describe("a client that never comes back", () => {
  test.for([false, true])(
    "costs its server an error and the call; was the holder lost: %s",
    async (isLost, { expect }) => {
      const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
      const client = new BridgeClient(upstream);
      const asked = await client.asked();
      expect((await storedIn(asked)).alarm).toBeLessThanOrEqual(Date.now() + PARKED_MS);
      if (isLost) await abortAllDurableObjects();
      await later(asked, PARKED_MS / 2);
      expect(await upstream.sent("POST")).toEqual([]);
      await later(asked, PARKED_MS);
      expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32603 } });
      const [cancelled] = await upstream.receives("notifications/cancelled");
      const [call] = await upstream.sent("tools/call");
      expect(cancelled?.body?.params?.["requestId"]).toBe(call?.body?.id);
      expect(await storedIn(asked)).toMatchObject({ calls: 0 });
      const { error } = await client.retry(asked, { r1: ACCEPT });
      expect(error).toMatchObject({ code: -32602 });
      expect(error?.message).toContain("Call again");
      expect(await upstream.sent("tools/call")).toHaveLength(1);
      expect(await upstream.sent("POST")).toHaveLength(1);
    },
  );

  test("gets an error that says so when it retries late, before the alarm has run", async ({
    expect,
  }) => {
    const upstream = await calling(event(ELICIT, { id: "e-1" }), NEVER);
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await abortAllDurableObjects();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + PARKED_MS);
    expect((await client.retry(asked, { r1: ACCEPT })).error).toMatchObject({ code: -32602 });
    expect((await upstream.sent("POST")).filter(({ body }) => "result" in (body ?? {}))).toEqual(
      [],
    );
  });
});

describe("too many calls that wait for their client", () => {
  test("end the next call in an error for both sides, and the others go on", async ({ expect }) => {
    const reaction: Reaction = {
      ...streamOf(event({ ...ELICIT, id: "{{id}}" }), { gate: "go-on" }, event(ANSWER)),
      isLasting: true,
    };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const client = new BridgeClient(upstream);
    const parked = [];
    for (let n = 0; n < MAX_PARKED; n++) parked.push(await client.asked());
    const { error } = await client.call();
    expect(error).toMatchObject({ code: -32603, data: { upstream: upstream.slug } });
    expect(error?.message).toContain(`${MAX_PARKED} requests`);
    const [cancelled] = await upstream.receives("notifications/cancelled");
    const calls = await upstream.sent("tools/call");
    expect(cancelled?.body?.params?.["requestId"]).toBe(calls.at(-1)?.body?.id);
    expect(await upstream.receivesAnswer(calls.at(-1)?.body?.id)).toHaveProperty("error");
    // Another principal's are its own.
    expect(await client.asked({}, { principal: "somebody else" })).toBeDefined();
    await upstream.open("go-on");
    for (const asked of parked) {
      expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    }
  });
});

describe("a holder that nobody uses", () => {
  test("closes its session although it was lost in its first call", async ({ expect }) => {
    const upstream = await calling(NEVER);
    const { value: sent, bridge } = await bridgesOf(async () => {
      const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
      await upstream.receives("tools/call");
      return sent;
    });
    const alarm = await runInDurableObject(bridge, (_, { storage }) => storage.getAlarm());
    expect(alarm).not.toBeNull();
    await abortAllDurableObjects();
    await sent.answered;
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime((alarm ?? 0) + 1);
    await runDurableObjectAlarm(env.BRIDGES.get(bridge.id));
    await upstream.receives("DELETE");
  });

  test("closes its session at the server, and stores nothing", async ({ expect }) => {
    const upstream = await calling(event(ELICIT), { gate: "go-on" }, event(ANSWER));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await later(asked, PARKED_MS / 2);
    // Somebody may come back.
    expect(await upstream.sent("DELETE")).toEqual([]);
    await upstream.open("go-on");
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    await later(asked, PARKED_MS - 1000);
    // It was not used for longer than it is kept then; but a client may have missed the answer.
    expect(await upstream.sent("DELETE")).toEqual([]);
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    await later(asked, 2 * PARKED_MS);
    await upstream.receives("DELETE");
    const left = await runInDurableObject(holderOf(asked), async (_instance, { storage }) => [
      ...storage.kv.list(),
      ...storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'parked%'"),
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([null]);
    // And is there again for whoever comes.
    expect((await client.call()).result).toBeDefined();
    expect(await upstream.sent("initialize")).toHaveLength(2);
  });
});
