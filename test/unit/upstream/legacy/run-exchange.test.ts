/** How long a request is waited for: as long as its server takes, and however long its client does. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Peer } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";
import { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import { runExchange } from "../../../../src/upstream/legacy/run-exchange.ts";
import type { Wire } from "../../../../src/upstream/legacy/wire.ts";
import { sleep } from "../../../../src/lib/sleep.ts";
import { message, question, refuseNothing, result } from "../../protocol/exchange-peers.ts";
import { failureOf, fakeTarget, html } from "../fake-target.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const TIMEOUT_MS = 1000;
const { signal: never } = new AbortController();
const nothing = (): Promise<void> => Promise.resolve();
const silence = (): Promise<void> => new Promise(() => undefined);
const unasked = (): Promise<Reply> => Promise.reject(new Error("not asked"));
const log = message({
  method: "notifications/message",
  params: { level: "info", data: "working" },
});

/** A call at a server that does this with the request. */
function callOf(
  request: Wire["request"],
  peer: Pick<Peer, "notify" | "ask">,
  signal = never,
): Promise<Reply> {
  const wire: Wire = {
    opening: undefined,
    ...{
      sessionId: undefined,
      sessionMark: undefined,
      accountId: undefined,
      agree: () => undefined,
      resume: nothing,
      post: nothing,
    },
    ...{ listen: () => undefined, unlisten: () => undefined, drop: () => undefined },
    close: nothing,
    request,
  };
  return runExchange({
    ...{ target: fakeTarget(() => html(404), { timeoutMs: TIMEOUT_MS }), wire },
    exchanges: new Exchanges(() => Promise.resolve(true), refuseNothing),
    call: { method: "tools/call" },
    ...{ peer, signal },
  });
}

function orStillRunning(outcome: Promise<unknown>): Promise<unknown> {
  return Promise.race([outcome, Promise.resolve("still running")]);
}

test("a question that throws does not stop the clock", async ({ expect }) => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const ended = failureOf(
    callOf(
      async (_, { deliver }) => {
        await deliver(question(1));
        return silence();
      },
      {
        notify: nothing,
        ask: () => {
          throw new TypeError("cannot be translated");
        },
      },
    ),
  );
  await vi.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
  expect(await orStillRunning(ended)).toMatchObject({ failure: "timeout" });
});

describe("while a client is slow to read", () => {
  const slowly = { notify: () => sleep(5 * TIMEOUT_MS, never), ask: unasked };

  test("the clock stands still, and the answer of the server arrives", async ({ expect }) => {
    const reply = callOf(async ({ id }, { deliver }) => {
      await deliver(log);
      await deliver(result(id, "server"));
    }, slowly);
    const outcome = reply.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    expect(await orStillRunning(outcome)).toEqual({ result: { from: "server" } });
  });

  test("the clock stands still, and no longer", async ({ expect }) => {
    const ended = failureOf(
      callOf(async (_, { deliver }) => {
        await deliver(log);
        return silence();
      }, slowly),
    );
    await vi.advanceTimersByTimeAsync(6 * TIMEOUT_MS - 1);
    expect(await orStillRunning(ended)).toBe("still running");
    await vi.advanceTimersByTimeAsync(1);
    expect(await orStillRunning(ended)).toMatchObject({ failure: "timeout" });
  });

  test("the call ends when the client has gone", async ({ expect }) => {
    const leaving = new AbortController();
    const gone = new Error("gone");
    const unread = { notify: silence, ask: unasked };
    const ended = failureOf(callOf((_, { deliver }) => deliver(log), unread, leaving.signal));
    await vi.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    leaving.abort(gone);
    await vi.advanceTimersByTimeAsync(0);
    expect(await orStillRunning(ended)).toBe(gone);
  });
});
