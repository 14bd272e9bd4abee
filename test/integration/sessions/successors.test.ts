/**
 * A client that comes back has a reader at the session's object before the gateway has noticed that
 * the one before has gone. Whatever becomes of the older reader then, the newer one reads on.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import type { SessionObject } from "../../../durable-objects/session-object.ts";
import { openedAtOf, type StreamRequest, streamRequest } from "../../../src/http/client-stream.ts";
import { OVER_CODE } from "../../../src/sessions/frame.ts";
import type { Opened } from "../../../src/sessions/session-outcome.ts";
import { type SessionClaims, writeClaims } from "../../../src/sessions/session-id.ts";
import { Session } from "../client.ts";
import { claimsOf, objectOf } from "../session-object.ts";
import { ANSWER, event, LOG, progress, RESULT, streamOf, Upstream } from "../upstream.ts";

/** What a reader of the call's stream is sent: its place, and then each message. */
const WHOLE = [
  "",
  JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "p", progress: 1 },
  }),
  JSON.stringify({ jsonrpc: "2.0", id: "mine", result: RESULT }),
];

/** What a WebSocket has brought, and the code that it was closed with. */
interface Reader {
  readonly openedAt: number;
  readonly ids: string[];
  readonly data: string[];
  closedWith?: number;
}

/** Stands where the Worker does that holds the client's stream. */
function read(instance: SessionObject, request: StreamRequest): Reader {
  // At once, as the configuration is known here.
  const response = instance.fetch(streamRequest(request)) as Response;
  const reader: Reader = { openedAt: openedAtOf(response), ids: [], data: [] };
  const { webSocket } = response;
  webSocket?.addEventListener("message", ({ data }) => {
    const [id = "", ...rest] = String(data).split(" ");
    reader.ids.push(id);
    reader.data.push(rest.join(" "));
  });
  webSocket?.addEventListener("close", ({ code }) => {
    reader.closedWith = code;
  });
  webSocket?.accept();
  return reader;
}

/** @param holder the session's object, or a stub of it: then the answer's stream is carried over RPC. */
async function callOn(
  holder: Pick<SessionObject, "receive"> | DurableObjectStub<SessionObject>,
  claims: SessionClaims,
): Promise<Opened> {
  const params = { name: "work", arguments: {}, _meta: { progressToken: "p" } };
  const call = JSON.stringify({ jsonrpc: "2.0", id: "mine", method: "tools/call", params });
  const outcome = await holder.receive(writeClaims(claims), call);
  if (outcome.kind !== "stream") throw new Error(`No stream: ${JSON.stringify(outcome)}`);
  return outcome;
}

async function openForCall(): Promise<{
  upstream: Upstream;
  session: Session;
  claims: SessionClaims;
}> {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event(progress(1)), { gate: "end" }, event(ANSWER))] },
  });
  const session = await Session.open(upstream.mcp);
  return { upstream, session, claims: await claimsOf(session.id) };
}

/** Has both opened, one after the other. */
async function openTwoStreams(): Promise<{
  upstream: Upstream;
  session: Session;
  claims: SessionClaims;
  readers: readonly [Reader, Reader];
}> {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.inUse(upstream.mcp);
  const claims = await claimsOf(session.id);
  const readers = await runInDurableObject(
    await objectOf(session),
    (instance) => [read(instance, { claims }), read(instance, { claims })] as const,
  );
  await upstream.receives("GET");
  return { upstream, session, claims, readers };
}

describe("the reader that a call's answer has at first", () => {
  test("is known to be gone after its successor came, which reads on", async ({ expect }) => {
    const { upstream, session, claims } = await openForCall();
    const successor = await runInDurableObject(await objectOf(session), async (instance) => {
      const { start, reader } = await callOn(instance, claims);
      // In one turn: what closes the older one is still on its way.
      const newer = read(instance, { claims, lastEventId: start });
      instance.detach(reader);
      return newer;
    });
    await upstream.open("end");
    await expect.poll(() => successor.data).toEqual(WHOLE);
    await expect.poll(() => successor.closedWith).toBe(OVER_CODE);
  });

  test("takes the answer's stream with it when it is said to be gone", async ({ expect }) => {
    const { upstream, session, claims } = await openForCall();
    const object = await objectOf(session);
    const { body, reader, start } = await callOn(object, claims);
    // What carries the stream over RPC waits for more, and would hold the object for ever.
    const carried = body.pipeTo(new WritableStream());
    await object.detach(reader);
    await carried;
    const successor = await runInDurableObject(object, (instance) =>
      read(instance, { claims, lastEventId: start }),
    );
    await upstream.open("end");
    await expect.poll(() => successor.data).toEqual(WHOLE);
  });

  test("was lost and reconnects after its successor lets the successor read on", async ({
    expect,
  }) => {
    const { upstream, session, claims } = await openForCall();
    const [late, successor] = await runInDurableObject(
      await objectOf(session),
      async (instance) => {
        const { start, openedAt } = await callOn(instance, claims);
        const newer = read(instance, { claims, lastEventId: start });
        return [read(instance, { claims, lastEventId: start, openedAt }), newer];
      },
    );
    await expect.poll(() => late?.closedWith).toBe(OVER_CODE);
    await upstream.open("end");
    await expect.poll(() => successor?.data).toEqual(WHOLE);
    expect(late?.data).toEqual([]);
  });
});

describe("of two GET streams", () => {
  test("the newer one carries messages that belong to no request, whichever reconnects first", async ({
    expect,
  }) => {
    const { upstream, session, claims, readers } = await openTwoStreams();
    await expect.poll(() => readers.map(({ ids }) => ids.length)).toEqual([1, 1]);
    const [older, newer] = readers.map(({ ids, openedAt }) => ({
      ...{ claims, lastEventId: ids[0], openedAt },
    }));
    await abortAllDurableObjects();
    const before = (await upstream.sent("GET")).length;
    const back = await runInDurableObject(await objectOf(session), (instance) =>
      [newer, older].map((request) => read(instance, request ?? { claims })),
    );
    await upstream.receives("GET", before + 1);
    await upstream.send(LOG);
    await expect.poll(() => back.map(({ data }) => data.length)).toEqual([2, 1]);
  });
});
