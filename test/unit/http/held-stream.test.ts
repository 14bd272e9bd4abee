/** A client's stream in the Worker: when its connection to the session's object is given up. */

import { afterEach, beforeEach, test, vi } from "vitest";

import { streamResponse } from "../../../src/http/client-stream.ts";
import type { FoundSession } from "../../../src/http/client-session.ts";
import type { FrontDoorContext } from "../../../src/http/front-door.ts";
import { holdStream } from "../../../src/http/held-stream.ts";
import { RECONNECT_CODE } from "../../../src/lib/socket-lines.ts";
import { eventFrame, watchFrame } from "../../../src/sessions/frame.ts";
import { fakeServer } from "../endpoint/fake-server.ts";
import { bodyOf, bytesOf, fakeTarget } from "../upstream/fake-target.ts";
import { EVENTS } from "../upstream/legacy/legacy-servers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a client's stream is taken up anew when the object cannot be handed what came from a server", async ({
  expect,
}) => {
  const said = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "com.example/n" })}\n\n`;
  const target = fakeTarget(() => new Response(bodyOf([bytesOf(said)]), { headers: EVENTS }));
  const [first, second] = [new WebSocketPair(), new WebSocketPair()];
  const closed: number[] = [];
  for (const { 1: end } of [first, second]) {
    end.accept();
    end.addEventListener("close", ({ code }) => void closed.push(code));
  }
  const object = {
    receiveWatched: () => Promise.reject(new Error("The object is overloaded")),
    fetch: () => Promise.resolve(streamResponse(second[0], 1)),
  };
  const context = {
    endpoint: { servers: [fakeServer("fake", { target })], isMerged: false, keepsNames: true },
    endpointOfNow: () => Promise.resolve(undefined),
    limits: { windowBytes: 1024, keepAliveSeconds: 3600 },
  } as unknown as FrontDoorContext;
  const response = holdStream(context, {
    session: { claims: {}, object: () => object } as unknown as FoundSession,
    source: first[0],
    openedAt: 1,
    encode: ({ data }) => data,
  });
  const reader = response.body?.getReader();
  const reading = reader?.read();
  first[1].send(watchFrame({ fake: { revision: "2025-11-25", sessionId: "s-1" } }));
  second[1].send(eventFrame("e-1", "the object goes on"));
  for (let s = 0; s < 60; s++) await vi.advanceTimersByTimeAsync(1000);
  expect(new TextDecoder().decode((await reading)?.value)).toBe("the object goes on");
  expect(closed).toEqual([RECONNECT_CODE]);
  await reader?.cancel();
});
