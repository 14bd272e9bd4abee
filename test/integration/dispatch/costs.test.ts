/** What each operation costs, row by row of the table in the design, counted where it happens. */

// Has an isolate of its own: it counts the costs of everything.
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { NO_COSTS, readCosts } from "../../../src/observability/costs.ts";
import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { initializeMessage, modernCall, post, Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { costsOf } from "../costs-of.ts";
import { answersToBring, loggedIn, sseSessionId } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { ANSWER, event, LOG, progress, STREAMED, streamOf, Upstream } from "../upstream.ts";

const TOKEN = { _meta: { progressToken: "p" } } as const;

/** Answers with a stream of events, of which each but the first waits for a gate. */
function oneByOne(...[a = "", b = "", c = ""]: readonly string[]): Reaction {
  const [first, second, third] = [event(progress(1)), event(LOG), event(progress(2))];
  return streamOf(first, { gate: a }, second, { gate: b }, third, { gate: c }, event(ANSWER));
}

/** A quarter of a hundred events, in one piece. */
function burst(n: number): string {
  return Array.from({ length: 25 }, (_, i) => event(progress(n * 25 + i))).join("");
}

/** Has the gateway ask for its keys now, which an isolate does every few minutes for all requests. */
async function knowKeys(upstream: Upstream): Promise<void> {
  await (await post(upstream.mcp, initializeMessage())).text();
  // The handshake that introduced the server is over.
  await upstream.receives("DELETE");
}

describe("a modern client of a modern upstream", () => {
  test("costs one outgoing request for each call, and nothing else", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    await responseIn(await modernCall(upstream)); // its era is known from now on
    const objects = await listDurableObjectIds(env.SESSIONS);
    const call = async (): Promise<void> => {
      for (let n = 0; n < 5; n++) await responseIn(await modernCall(upstream));
    };
    expect(await costsOf(call)).toEqual({ ...NO_COSTS, outgoingRequests: 5 });
    expect(await listDurableObjectIds(env.SESSIONS)).toHaveLength(objects.length);
  });
});

describe("without a Durable Object", () => {
  test("a legacy client's initialize, pings and notifications/initialized are answered", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    await knowKeys(upstream);
    const objects = await listDurableObjectIds(env.SESSIONS);
    const open = async (): Promise<void> => {
      for (let n = 0; n < 20; n++) {
        const session = await Session.open(upstream.mcp);
        expect(await responseIn(await session.request("ping"))).toMatchObject({ result: {} });
      }
    };
    expect(await costsOf(open)).toEqual(NO_COSTS);
    expect(await listDurableObjectIds(env.SESSIONS)).toHaveLength(objects.length);
  });

  test("an upstream is introduced by one handshake and its end for all clients of one kind", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    await knowKeys(await Upstream.take({ server: "legacy" }));
    const first = await costsOf(async () => {
      await Session.open(upstream.mcp);
      await upstream.receives("DELETE");
    });
    expect(first).toEqual({ ...NO_COSTS, outgoingRequests: 2 });
    // Servers may answer by the revision and by what the client can do.
    for (const options of [{ revision: "2025-06-18" }, { capabilities: { roots: {} } }]) {
      const other = await costsOf(async () => {
        const before = (await upstream.sent("DELETE")).length;
        await Session.open(upstream.mcp, options);
        await upstream.receives("DELETE", before + 1);
      });
      expect(other).toEqual({ ...NO_COSTS, outgoingRequests: 2 });
    }
  });
});

describe("a call in a session", () => {
  test("that is its first: one row, one alarm, and the opening of a session upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await knowKeys(upstream);
    const costs = await costsOf(async () => responseIn(await session.callTool()));
    expect(costs).toMatchObject({
      ...{ objectsConstructed: 1, objectRequests: 1, rowsWritten: 1, alarmsSet: 1 },
      outgoingRequests: 3, // initialize, notifications/initialized, tools/call
    });
  });

  test("that answers without streaming: one request of the object, and no row", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    await knowKeys(upstream);
    const call = async (): Promise<void> => {
      for (let n = 0; n < 10; n++) await responseIn(await session.callTool());
    };
    expect(await costsOf(call)).toEqual({ ...NO_COSTS, objectRequests: 10, outgoingRequests: 10 });
  });

  test("that streams: one request of the object, and one row for each event that comes alone", async ({
    expect,
  }) => {
    const gates = ["a", "b", "c", "d", "e", "f"];
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [STREAMED, oneByOne(...gates), oneByOne(...gates.slice(3))] },
    });
    const session = await Session.inUse(upstream.mcp);
    await messagesOf(await session.callTool("work", TOKEN)); // makes the table, and sets the alarm
    await knowKeys(upstream);
    const before = await loggedIn(session);
    const costs = await costsOf(async () => {
      for (const own of [gates.slice(0, 3), gates.slice(3)]) {
        const stream = new EventReader(await session.callTool("work", TOKEN));
        for (const gate of own) {
          await stream.message();
          await upstream.open(gate);
        }
        expect(await stream.message()).toHaveProperty("result");
        await stream.rest();
      }
    });
    // What opens the stream, three events, and the answer; twice.
    expect(costs).toEqual({ ...NO_COSTS, objectRequests: 2, outgoingRequests: 2, rowsWritten: 10 });
    expect((await loggedIn(session)) - before).toBe(10);
  });

  test("that streams a hundred events in bursts: fewer rows than events", async ({ expect }) => {
    const bursts = streamOf(burst(0), burst(1), burst(2), burst(3), event(ANSWER));
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [STREAMED, bursts] },
    });
    const session = await Session.inUse(upstream.mcp);
    await messagesOf(await session.callTool("work", TOKEN)); // makes the table, and sets the alarm
    await knowKeys(upstream);
    const costs = await costsOf(async () => {
      expect(await messagesOf(await session.callTool("work", TOKEN))).toHaveLength(101);
    });
    expect(costs).toMatchObject({ objectRequests: 1, outgoingRequests: 1, rowsRead: 0 });
    // What opens the stream, at most two for each burst, and the answer.
    expect(costs.rowsWritten).toBeLessThanOrEqual(10);
  });

  test("that asks: one request of the object and two rows for each answer", async ({ expect }) => {
    const asks = [1, 2, 3].map((id) => event({ id, method: "roots/list" }));
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(...asks, { gate: "go-on" }, event(ANSWER))] },
    });
    const session = await Session.open(upstream.mcp, { capabilities: { roots: {} } });
    const stream = new EventReader(await session.callTool());
    // Makes the table.
    await session.answer((await stream.message()).id, { result: { roots: [] } });
    await upstream.receivesAnswer(1);
    const second = await stream.message();
    const third = await stream.message();
    await knowKeys(upstream);
    await expect.poll(() => answersToBring(session)).toBe(0);
    const costs = await costsOf(async () => {
      for (const { id } of [second, third]) await session.answer(id, { result: { roots: [] } });
      await expect.poll(() => answersToBring(session)).toBe(0);
    });
    // One when it is taken, and one when the server has it.
    expect(costs).toMatchObject({ objectRequests: 2, outgoingRequests: 2, rowsWritten: 4 });
    await upstream.open("go-on");
    await stream.rest();
  });

  test("that is cut off: one request more, to tell the object", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(LOG), { gate: "end" }, event(ANSWER))] },
    });
    const session = await Session.inUse(upstream.mcp);
    await knowKeys(upstream);
    const stream = new EventReader(await session.callTool());
    await stream.message();
    const { objectRequests } = readCosts();
    const cut = async (): Promise<void> => {
      await stream.cancel();
      await expect.poll(() => readCosts().objectRequests).toBe(objectRequests + 1);
    };
    expect(await costsOf(cut)).toEqual({ ...NO_COSTS, objectRequests: 1 });
    await upstream.open("end");
  });
});

describe("an open GET stream", () => {
  test("costs nothing while it is idle", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await upstream.receives("GET", 2); // the watch was handed over
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 4; n++) await stream.silence();
    };
    expect(await costsOf(idle)).toEqual(NO_COSTS);
    await stream.cancel();
  });

  test("costs one request, one message and one row for a notification", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await upstream.send(LOG);
    await stream.message(); // makes the table, and sets the alarm
    await upstream.receives("GET", 2);
    const costs = await costsOf(async () => {
      await upstream.send(LOG);
      await stream.message();
    });
    expect(costs).toEqual({
      ...NO_COSTS,
      objectRequests: 1,
      rowsWritten: 1,
      webSocketMessagesOut: 1,
    });
    await stream.cancel();
  });

  test("of HTTP+SSE costs nothing while it is idle", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await SseSession.open(upstream.sse);
    expect(await loggedIn({ id: sseSessionId(session) })).toBe(1); // the answer to initialize
    await upstream.receives("GET", 2);
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) await session.stream.silence();
    };
    expect(await costsOf(idle)).toEqual(NO_COSTS);
    await session.stream.cancel();
  });
});
