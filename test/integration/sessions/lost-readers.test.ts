/**
 * A session over HTTP+SSE is its stream. When its object is lost the reader is on its way back:
 * an alarm that rings just then ends nothing, and one that finds nobody in time does.
 */

import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, test, vi } from "vitest";

import { SessionObject } from "../../../durable-objects/session-object.ts";
import { until } from "../bounded.ts";
import { NOTHING, objectOf, sseSessionId, storedIn } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { ANSWER, event, LOG, streamOf, Upstream } from "../upstream.ts";

const LINGER_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
/** A session whose reader pauses before it comes back: it was lost twice within a second. */
async function lostTwice(upstream: Upstream): Promise<readonly [SseSession, { id: string }]> {
  const session = await SseSession.open(upstream.sse);
  await upstream.receives("GET");
  await abortAllDurableObjects();
  await upstream.receives("GET", 2);
  await abortAllDurableObjects();
  return [session, { id: sseSessionId(session) }];
}

test("an alarm that runs while the reader is reconnecting ends nothing", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const [session, named] = await lostTwice(upstream);
  expect(await runDurableObjectAlarm(await objectOf(named))).toBe(true);
  await upstream.receives("GET", 3);
  await upstream.send(LOG);
  expect(await session.stream.message()).toMatchObject(LOG);
  expect(await session.request("tools/list")).toMatchObject({ id: 1, result: {} });
  await session.stream.silence();
  await session.stream.cancel();
});

test("an alarm that finds no reader after the linger time ends the session", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const [session, named] = await lostTwice(upstream);
  // Nobody tells the object, for there is none.
  await session.stream.cancel();
  await runDurableObjectAlarm(await objectOf(named));
  vi.setSystemTime(Date.now() + LINGER_MS - 1);
  await runDurableObjectAlarm(await objectOf(named));
  // It is noted since when the client is away: it is to be told when the servers are others.
  expect(await storedIn(named)).toMatchObject({ keys: ["heard", "session"] });
  vi.setSystemTime(Date.now() + 1);
  await runInDurableObject(await objectOf(named), (instance) => instance.alarm());
  expect(await storedIn(named)).toEqual(NOTHING);
  expect((await session.post({ id: 1, method: "ping" }))[0]).toBe(404);
  await upstream.receives("DELETE", 2); // of the introduction, and of the session
});

// It can resume nothing, and what is gone may be the answer to a call.
test("a client that has missed some of what waited for its reader sees its stream end", async ({
  expect,
}) => {
  const long = {
    method: "notifications/message",
    params: { level: "info", data: "x".repeat(9000) },
  };
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event(long), event(long), event(ANSWER))] },
  });
  const session = await SseSession.open(upstream.sse);
  const named = { id: sseSessionId(session) };
  const reading = vi.spyOn(SessionObject.prototype, "fetch").mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  await abortAllDurableObjects();
  const call = { id: 1, method: "tools/call", params: { name: "work", arguments: {} } };
  expect((await session.post(call))[0]).toBe(202);
  // The answer to `initialize` is kept as well, of a stream that had a reader.
  const answer = "SELECT 1 FROM events_1 WHERE kind = 'backlog' AND data LIKE '%\"result\"%'";
  const object = await objectOf(named);
  const isWritten = (): Promise<true | undefined> =>
    runInDurableObject(object, (_instance, { storage: { sql } }) =>
      [...sql.exec(answer)].length > 0 ? true : undefined,
    );
  await until(isWritten, "the answer to wait for the reader");
  reading.mockRestore();
  expect(await session.stream.next()).toBeUndefined();
  vi.useRealTimers();
  await expect.poll(async () => (await session.post({ id: 2, method: "ping" }))[0]).toBe(404);
});
