/** A request whose questions cannot be put to its client: the server's time goes on all the same. */

import { afterEach, beforeEach, test, vi } from "vitest";

import { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import { runExchange } from "../../../../src/upstream/legacy/run-exchange.ts";
import type { Wire } from "../../../../src/upstream/legacy/wire.ts";
import { question } from "../../protocol/exchange-peers.ts";
import { failureOf, fakeTarget, html } from "../fake-target.ts";
import { refuseNothing } from "../../protocol/exchange-peers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const nothing = (): Promise<void> => Promise.resolve();

test("a question that throws does not stop the clock", async ({ expect }) => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
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
    request: async (_, { deliver }) => {
      await deliver(question(1));
      return new Promise<void>(() => undefined);
    },
  };
  const ended = failureOf(
    runExchange({
      ...{ target: fakeTarget(() => html(404), { timeoutMs: 1000 }), wire },
      exchanges: new Exchanges(() => Promise.resolve(true), refuseNothing),
      call: { method: "tools/call" },
      peer: {
        notify: nothing,
        ask: () => {
          throw new TypeError("cannot be translated");
        },
      },
      signal: new AbortController().signal,
    }),
  );
  await vi.advanceTimersByTimeAsync(5000);
  expect(await Promise.race([ended, Promise.resolve("still running")])).toMatchObject({
    failure: "timeout",
  });
});
