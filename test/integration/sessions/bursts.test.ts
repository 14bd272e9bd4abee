/** Notifications of a call that come faster than they are written: together, and never seen before that. */

import { describe, test } from "vitest";

import { notification, respond } from "../../../src/protocol/json-rpc.ts";
import type { Channel } from "../../../src/sessions/stream-reader.ts";
import { type StreamPosition, Streams } from "../../../src/sessions/streams.ts";
import { Session } from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { ANSWER, event, progress, streamOf, Upstream } from "../upstream.ts";
import { at, type LogFixture, withLog } from "./log/log-fixture.ts";
import { until } from "../../support/until.ts";

const notice = (n: number): ReturnType<typeof notification> =>
  notification("notifications/n", { n });
const numbers = (frames: readonly string[]): unknown[] =>
  frames.map((frame): unknown => {
    const { id, params } = JSON.parse(frame.slice(frame.indexOf(" ") + 1) || "{}") as {
      id?: unknown;
      params?: { n?: unknown };
    };
    return id ?? params?.n;
  });

/** A stream of a call, with a reader, and writes that are durable when the test says so. */
class Burst {
  readonly frames: string[] = [];
  isClosed = false;
  hasRoom = true;
  readonly streams: Streams;
  readonly meta;
  #settle: () => void = () => undefined;

  constructor({ log }: LogFixture) {
    this.streams = new Streams({
      log,
      hasAnswers: false,
      synced: () => new Promise((resolve) => (this.#settle = resolve)),
      stallMs: 60_000,
      onReaders: () => undefined,
      onDetach: () => undefined,
    });
    this.meta = log.openPost("[1]", "the call");
    this.read({ meta: this.meta, after: 0 });
  }

  read(place: StreamPosition): void {
    this.streams.attach(place, this.#channel(), { isKnown: true });
  }

  #channel(): Channel {
    const hasRoom = (): boolean => this.hasRoom;
    return {
      openedAt: 1,
      get hasRoom() {
        return hasRoom();
      },
      send: (frame) => this.frames.push(frame),
      sentUpTo: () => undefined,
      close: () => (this.isClosed = true),
    };
  }

  send(n: number): Promise<boolean> {
    return this.streams.send(this.meta, notice(n), { resumeToken: `after ${n}` });
  }

  async settled(frames: number): Promise<void> {
    this.#settle();
    await until(() => this.frames.length === frames, "its frames");
  }
}

describe("a notification of a call", () => {
  test("that comes alone is written and sent at once", async ({ expect }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      expect(fixture.written(() => void burst.send(1))).toBe(1);
      expect(numbers(burst.frames)).toEqual([1]);
    });
  });

  test("that follows before it is durable is sent when it is, in one row with others", async ({
    expect,
  }) => {
    await withLog(async (fixture) => {
      const burst = new Burst(fixture);
      const before = fixture.rowsWritten;
      for (let n = 1; n <= 10; n++) expect(await burst.send(n)).toBe(true);
      expect(numbers(burst.frames)).toEqual([1]);
      await burst.settled(10);
      expect(numbers(burst.frames)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(fixture.rowsWritten - before).toBe(2);
    });
  });

  test("goes out at once with the answer, for which somebody waits", async ({ expect }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      for (let n = 1; n <= 3; n++) void burst.send(n);
      const last = { isFinal: true };
      void burst.streams.send(burst.meta, respond("answer", { result: {} }), last);
      expect(numbers(burst.frames)).toEqual([1, 2, 3, "answer"]);
      expect(burst.isClosed).toBe(true);
    });
  });

  test("goes out at once with a question, for which somebody waits", async ({ expect }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      for (let n = 1; n <= 3; n++) void burst.send(n);
      void burst.streams.send(burst.meta, { jsonrpc: "2.0", id: "asked", method: "roots/list" });
      expect(numbers(burst.frames)).toEqual([1, 2, 3, "asked"]);
    });
  });

  test("goes out before its connection is closed for polling", async ({ expect }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      for (let n = 1; n <= 3; n++) void burst.send(n);
      burst.streams.readerOf(burst.meta)?.closeForPolling();
      expect(numbers(burst.frames)).toEqual([1, 2, 3]);
      expect(burst.isClosed).toBe(true);
      // Neither does it wait in the memory of an object that may die before the client is back.
      const found = fixture.again().find(at(burst.meta));
      expect(found).toMatchObject({ meta: { last: 3, resumeToken: "after 3" } });
    });
  });

  test("is not lost with an object that dies in the middle: it was neither seen nor written", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      for (let n = 1; n <= 3; n++) void burst.send(n);
      const again = fixture.again();
      const found = again.find(at(burst.meta));
      if (found.kind !== "found") throw new Error(found.kind);
      // The server's stream is resumed after the last one that the client may have.
      expect(numbers(burst.frames)).toEqual([1]);
      expect(found.meta).toMatchObject({ last: 1, resumeToken: "after 1" });
    });
  });

  test("holds its server back when its reader is behind", async ({ expect }) => {
    await withLog(async (fixture) => {
      const burst = new Burst(fixture);
      await burst.send(1);
      burst.hasRoom = false;
      await burst.send(2);
      await burst.settled(1);
      await until(() => fixture.log.lastWritten(burst.meta) === 2, "the burst in the log");
      let isTaken = false;
      const third = burst.send(3).then(() => (isTaken = true));
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect([isTaken, burst.frames.length]).toEqual([false, 1]);
      burst.hasRoom = true;
      burst.streams.readerOf(burst.meta)?.pump();
      await third;
      await burst.settled(3);
    });
  });

  test("is the only one that waits: what belongs to no call is written and sent at once", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const burst = new Burst(fixture);
      const { streams } = burst;
      void burst.send(1);
      burst.read(streams.openStandalone());
      for (let n = 2; n <= 4; n++) {
        expect(fixture.written(() => void streams.unsolicited.send(notice(n)))).toBe(1);
      }
      expect(numbers(burst.frames)).toEqual([1, 2, 3, 4]);
    });
  });
});

test("a call that sends a burst is resumed after any event of it", async ({ expect }) => {
  const COUNT = 20;
  const burst = Array.from({ length: COUNT }, (_, n) => event(progress(n + 1))).join("");
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(burst, { gate: "end" }, event(ANSWER))] },
  });
  const session = await Session.open(upstream.mcp);
  const params = { _meta: { progressToken: "p" } };
  const stream = new EventReader(await session.callTool("work", params, "mine"));
  const seen = [];
  for (let n = 0; n <= COUNT; n++) seen.push(await stream.next()); // the first says where it can be resumed
  await stream.cancel();
  await upstream.open("end");
  for (const [n, one] of seen.entries()) {
    const again = new EventReader(await session.get({ "Last-Event-ID": one?.id ?? "" }));
    const rest = await again.rest();
    expect(rest.slice(0, -1).map(({ id }) => id)).toEqual(
      seen.slice(n + 1).map((next) => next?.id),
    );
    expect(JSON.parse(rest.at(-1)?.data ?? "")).toMatchObject({ id: "mine" });
  }
});
