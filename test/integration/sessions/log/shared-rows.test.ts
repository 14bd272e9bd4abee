/** Events of a burst share a row: it is written once, and read from any of its events. */

import { describe, test } from "vitest";

import type { EventLog } from "../../../../src/sessions/log/event-log.ts";
import { rowId, RowState } from "../../../../src/sessions/log/event-rows.ts";
import type { StreamMeta } from "../../../../src/sessions/log/stream-meta.ts";
import { at, kinds, type LogFixture, texts, withLog } from "./log-fixture.ts";

const SHARED = { isShared: true } as const;

function rowsIn({ storage }: LogFixture): number {
  return storage.exec<{ n: number }>("SELECT count(*) AS n FROM events_1").one().n;
}

function append(log: EventLog, meta: StreamMeta, ...all: readonly string[]): void {
  for (const text of all) log.append(meta, text, { ...SHARED, resumeToken: `after ${text}` });
}

/** Finds the stream as a resume does. */
function found(log: EventLog, meta: StreamMeta): StreamMeta {
  const answer = log.find(at(meta));
  if (answer.kind !== "found") throw new Error(answer.kind);
  return answer.meta;
}

describe("events that share a row", () => {
  test("are written together, and not before they may be sent", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      append(log, meta, "a");
      log.flush();
      expect(fixture.written(() => append(log, meta, "b", "c", "d"))).toBe(0);
      expect([meta.last, log.lastWritten(meta)]).toEqual([4, 1]);
      expect(fixture.written(() => log.flush())).toBe(1);
      expect([meta.last, log.lastWritten(meta)]).toEqual([4, 4]);
      expect(fixture.written(() => log.flush())).toBe(0);
    });
  });

  test("are resumed after any of them, in this life and the next", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      const all = ["a", "b", "c", "d", "e"];
      append(log, meta, "a", "b", "c");
      log.flush();
      append(log, meta, "d", "e");
      log.flush();
      for (const life of [log, fixture.again()]) {
        for (let seq = 0; seq <= all.length; seq++) {
          expect(life.find(at(meta, seq)).kind).toBe("found");
          expect(texts(life, found(life, meta), seq)).toEqual(all.slice(seq));
        }
        expect(life.find(at(meta, 6)).kind).toBe("unknown");
        expect(found(life, meta)).toMatchObject({ last: 5, resumeToken: "after e" });
      }
      expect(rowsIn(fixture)).toBe(3);
    });
  });

  test("have one with the question or the answer that follows, which has its own token", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      append(log, meta, "a", "b");
      log.append(meta, "question", { resumeToken: "after the question" });
      append(log, meta, "c");
      log.append(meta, "answer", { isFinal: true });
      expect(log.lastWritten(meta)).toBe(5);
      expect(rowsIn(fixture)).toBe(3);
      const again = fixture.again();
      expect(again.inheritedResumeToken(at(meta, 3))).toBe("after the question");
      expect(again.inheritedResumeToken(at(meta, 1))).toBeUndefined();
      expect(found(again, meta).isEnded).toBe(true);
      expect(texts(again, found(again, meta))).toEqual(["a", "b", "question", "c", "answer"]);
    });
  });

  test("keep their number when the stream ends without an event", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      append(log, meta, "a", "b");
      log.end(meta);
      const again = fixture.again();
      expect(found(again, meta).isEnded).toBe(true);
      expect(texts(again, found(again, meta), 1)).toEqual(["b"]);
    });
  });

  test("are of one stream: two calls at once have rows of their own", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const [one, two] = [log.openPost("[1]"), log.openPost("[2]")];
      for (let n = 0; n < 5; n++) {
        append(log, one, `one ${n}`);
        append(log, two, `two ${n}`);
      }
      expect(fixture.written(() => log.flush())).toBe(2);
      const again = fixture.again();
      expect(texts(again, found(again, one), 3)).toEqual(["one 3", "one 4"]);
      expect(texts(again, found(again, two), 3)).toEqual(["two 3", "two 4"]);
    });
  });

  test("fill a row, and then the next", async ({ expect }) => {
    await withLog(
      (fixture) => {
        const { log } = fixture;
        const many = log.openPost("[1]");
        append(log, many, ...Array.from({ length: 300 }, (_, n) => `${n}`));
        expect(log.lastWritten(many)).toBe(256);
        const long = log.openPost("[2]");
        append(log, long, ..."abc".split("").map((text) => text.repeat(30_000)));
        expect(log.lastWritten(long)).toBe(2);
        const again = fixture.again();
        expect(texts(again, found(again, many), 255)[0]).toBe("255");
        expect(texts(again, found(again, long)).map((text) => text[0])).toEqual(["a", "b"]);
      },
      { keptEventsPerStream: 1000 },
    );
  });

  test("do not share it with one of several lines, or of several rows", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      const all = ["a", "b\nb", "c", "x".repeat(600_000), "d", "e"];
      append(log, meta, ...all);
      log.flush();
      const again = fixture.again();
      expect(texts(again, found(again, meta))).toEqual(all);
      expect(texts(again, found(again, meta), meta.last - 2)).toEqual(["d", "e"]);
    });
  });

  test("are forgotten with their stream, written or not", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      append(log, meta, "a", "b");
      log.forget(meta);
      log.flush();
      expect(kinds(log, meta)).toEqual(["unknown"]);
      expect(rowsIn(fixture)).toBe(0);
    });
  });

  test("count one by one towards the quota of their stream", async ({ expect }) => {
    await withLog(
      ({ log }) => {
        const meta = log.openPost("[1]");
        append(log, meta, "a", "b", "c");
        expect(log.append(meta, "d", SHARED)).toBeUndefined();
      },
      { keptEventsPerStream: 4 },
    );
  });
});

test("a write that fails loses nothing: it is made with the next event", async ({ expect }) => {
  await withLog((fixture) => {
    const { log, storage } = fixture;
    const meta = log.openPost("[1]");
    append(log, meta, "a", "b");
    storage.exec("ALTER TABLE events_1 RENAME TO elsewhere");
    expect(() => log.flush()).toThrow("no such table");
    expect(log.lastWritten(meta)).toBe(0);
    storage.exec("ALTER TABLE elsewhere RENAME TO events_1");
    append(log, meta, "c");
    log.flush();
    const again = fixture.again();
    expect(texts(again, found(again, meta))).toEqual(["a", "b", "c"]);
  });
});

test("a row of an earlier version has one event, or a part of one", async ({ expect }) => {
  await withLog((fixture) => {
    const { log, storage } = fixture;
    const meta = log.openPost("[1]");
    for (const [seq, state] of [
      [1, 0],
      [2, RowState.Part],
      [3, 0],
      [4, RowState.Final],
    ] as const) {
      storage.exec(
        "INSERT INTO events_1 VALUES (?, 'post', ?, 0, ?, ?, ?, NULL)",
        ...[rowId(meta.id.number, seq), meta.id.nonce, 3 + seq, state, `${seq}`],
      );
    }
    const again = fixture.again();
    expect(found(again, meta)).toMatchObject({ last: 4, isEnded: true, resumeToken: undefined });
    const events = again.read(found(again, meta), 0, 1000);
    expect(events.map(({ seq, data }) => [seq, data])).toEqual([
      [1, "1"],
      [3, "23"],
      [4, "4"],
    ]);
    expect(texts(again, found(again, meta), 1)).toEqual(["23", "4"]);
  });
});
