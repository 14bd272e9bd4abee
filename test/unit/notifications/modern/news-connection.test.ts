/** The connection to the fan-out, whose interests are replaced while it is opened again. */

import { afterEach, beforeEach, test, vi } from "vitest";

import { NewsConnection } from "../../../../src/notifications/modern/news-connection.ts";
import { FakeFanOut } from "../fan-out/fake-fan-out.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("interests that are replaced while the connection is opened again are those it has", async ({
  expect,
}) => {
  const fanOut = new FakeFanOut();
  const connection = new NewsConnection(fanOut, { old: ["tools"] }, new AbortController().signal);
  await connection.open();
  const next = connection.next();
  const { promise: answering, resolve: answer } = Promise.withResolvers<void>();
  fanOut.gate = answering;
  fanOut.newest.breakOff();
  await vi.advanceTimersByTimeAsync(1000);
  connection.listenFor({ fresh: ["tools"] });
  answer();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await next).toEqual({ kind: "gap", honoured: { fresh: ["tools"] } });
});
