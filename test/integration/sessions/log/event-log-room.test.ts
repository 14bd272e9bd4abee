/** What goes when there is no room in the log, and what never does. */

import { describe, test } from "vitest";

import type { Found } from "../../../../src/sessions/log/event-log.ts";
import type { StreamMeta } from "../../../../src/sessions/log/stream-meta.ts";
import { at, kinds, texts, withLog } from "./log-fixture.ts";

describe("where there is no room", () => {
  test("finished streams are deleted, acknowledged ones first, then the oldest, and none that is being read", async ({
    expect,
  }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const heads = [];
        for (let n = 0; n < 4; n++) {
          fixture.now += 1;
          heads.push(fixture.finished("a", "b"));
        }
        const [one, two, three, four] = heads as [StreamMeta, StreamMeta, StreamMeta, StreamMeta];
        log.acknowledge(three, 1); // not its last event
        log.acknowledge(four, 2);
        two.isInUse = true;
        const orders: Found["kind"][][] = [];
        for (let n = 0; n < 3; n++) {
          log.openStandalone().isInUse = true;
          orders.push(kinds(log, one, two, three, four));
        }
        expect(orders).toEqual([
          ["found", "found", "found", "unknown"],
          ["unknown", "found", "found", "unknown"],
          ["unknown", "found", "unknown", "unknown"],
        ]);
      },
      { keptStreamsPerSession: 4 },
    );
  });

  test("streams without events are deleted before unread ones", async ({ expect }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const finished = fixture.finished("a");
        for (let n = 0; n < 100; n++) log.openStandalone();
        expect(kinds(log, finished)).toEqual(["found"]);
      },
      { keptStreamsPerSession: 4 },
    );
  });

  test("the resume token of an event counts, too, in this life and the next", async ({
    expect,
  }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const meta = log.openPost("[1]");
        expect(log.append(meta, "x", { resumeToken: "t".repeat(60) })).toBe(1);
        expect(log.append(meta, "x")).toBeUndefined(); // each row has the resume token that is known
        const [found] = fixture.again().streams();
        expect(found?.chars).toBe(meta.chars);
        expect((found?.chars ?? 0) - (found?.trimmedChars ?? 0)).toBe(3 + 1 + 60);
      },
      { keptBytesPerStream: 100 },
    );
  });

  test("a resume token that takes the place of another counts, too, in this life and the next", async ({
    expect,
  }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const meta = log.openPost("[1]", "t");
        log.note(meta, "t".repeat(50), true);
        expect(log.append(meta, "x")).toBeUndefined();
        const [found] = fixture.again().streams();
        expect(found?.chars).toBe(3 + 50);
        expect(found?.trimmedChars).toBe(0);
      },
      { keptBytesPerStream: 100 },
    );
  });

  test("in a live stream, an event is refused, and an answer is accepted", async ({ expect }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const meta = log.openPost("[1]");
        expect(log.append(meta, "x".repeat(60))).toBe(1);
        expect(log.append(meta, "x".repeat(60))).toBeUndefined();
        expect(log.append(meta, "error", { isFinal: true, isForced: true })).toBe(2);
        expect(texts(fixture.again(), meta)).toEqual(["x".repeat(60), "error"]);
      },
      { keptBytesPerStream: 100 },
    );
  });

  test("in a stream that never ends, the oldest events are deleted, and no more than needed", async ({
    expect,
  }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const meta = log.openStandalone();
        for (let n = 1; n <= 12; n++) log.append(meta, `${n}`.padStart(10, "-"));
        expect(log.find(at(meta, 1)).kind).toBe("gone");
        expect(texts(log, meta).map((text) => text.replaceAll("-", ""))).toEqual([
          "3",
          "4",
          "5",
          "6",
          "7",
          "8",
          "9",
          "10",
          "11",
          "12",
        ]);
        expect(texts(fixture.again(), meta)).toHaveLength(10);
        log.append(meta, "y".repeat(95));
        expect(texts(log, meta)).toEqual(["y".repeat(95)]);
      },
      { keptBytesPerStream: 100 },
    );
  });

  test("in the session, finished streams are deleted before an event of a live one is refused", async ({
    expect,
  }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const [old, newer] = [fixture.finished("x".repeat(40)), fixture.finished("x".repeat(30))];
        const live = log.openPost("[1]");
        expect(log.append(live, "x".repeat(45))).toBe(1);
        expect(kinds(log, old, newer)).toEqual(["unknown", "found"]);
        expect(log.append(live, "x".repeat(50))).toBe(2);
        expect(kinds(log, newer)).toEqual(["unknown"]);
        expect(log.append(live, "x".repeat(50))).toBeUndefined();
      },
      { keptBytesPerSession: 110 },
    );
  });
});
