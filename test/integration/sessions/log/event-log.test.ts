/** The event log on the database of a real object: ids, retention, what a row costs, and moves. */

import { describe, test } from "vitest";

import { formatEventId, parseEventId } from "../../../../src/sessions/log/event-id.ts";
import type { StreamMeta } from "../../../../src/sessions/log/stream-meta.ts";
import { at, kinds, MINUTE, texts, withLog } from "./log-fixture.ts";

describe("an event id", () => {
  test("names its stream and its position, and survives being written down", ({ expect }) => {
    const position = {
      stream: { kind: "post", number: 3, nonce: "7dfc24f525f5" },
      seq: 2,
    } as const;
    expect(formatEventId(position.stream, 2)).toBe("p3.2-7dfc24f525f5");
    expect(parseEventId("p3.2-7dfc24f525f5")).toEqual(position);
  });

  test.for([
    ...["", "p", "p3.2", "3.2-7dfc24f525f5", "b3.2-7dfc24f525f5", "p3.2-7DFC24F525F5"],
    ...["p3.2-7dfc24f525f", "p3.2-7dfc24f525f51", "p-3.2-7dfc24f525f5", "p3.-1-7dfc24f525f5"],
    ...[
      " p3.2-7dfc24f525f5",
      "p3.2-7dfc24f525f5\n",
      "p1e3.2-7dfc24f525f5",
      "p3.999999999-7dfc24f525f5",
    ],
  ])("is not read from %j", (text, { expect }) => {
    expect(parseEventId(text)).toBeUndefined();
  });

  test("of another session, of another kind, or not issued yet finds nothing", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = fixture.finished("a", "b");
      const other = fixture.again("bbbbbb").openStandalone();
      expect(log.find(at(other)).kind).toBe("foreign");
      expect(log.find({ stream: { ...meta.id, kind: "standalone" }, seq: 1 }).kind).toBe("unknown");
      expect(log.find({ stream: { ...meta.id, number: 99 }, seq: 1 }).kind).toBe("unknown");
      expect(log.find({ stream: { ...meta.id, nonce: "aaaaaaffffff" }, seq: 1 }).kind).toBe(
        "unknown",
      );
      expect(log.find(at(meta, 3)).kind).toBe("unknown");
      expect(log.find(at(meta, 2)).kind).toBe("found");
    });
  });

  test("of a standalone stream that was not logged finds the one in its place, from its beginning", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const before = fixture.log.openStandalone();
      const log = fixture.again();
      log.appendToBacklog("a", {});
      const meta = log.openStandalone(before.id);
      log.moveBacklog(meta);
      expect(meta.id.number).not.toBe(before.id.number);
      const found = fixture.again().find(at(before));
      expect(found).toMatchObject({ kind: "found", meta: { id: meta.id, last: 1 } });
      expect(fixture.again().find(at(before, 1)).kind).toBe("unknown");
    });
  });
});

describe("what is past its retention", () => {
  test("of a finished stream is deleted as a whole, counted from its last event", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      log.append(meta, "a");
      fixture.now += 59 * MINUTE;
      log.append(meta, "b", { isFinal: true });
      // Deleted a tenth later, so that the alarm rings seldom; gone on time.
      expect(log.expiresAt()).toBe(fixture.now + 66 * MINUTE);
      fixture.now += 60 * MINUTE - 1;
      expect(kinds(log, meta)).toEqual(["found"]);
      fixture.now += 1;
      expect(kinds(log, meta)).toEqual(["unknown"]);
      expect([...fixture.storage.exec("SELECT id FROM events_1")]).toEqual([]);
      expect(log.expiresAt()).toBeUndefined();
    });
  });

  test("of a finished stream that is being read is kept for as long again, and no longer", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = fixture.finished("a", "b");
      meta.isInUse = true;
      fixture.now += 66 * MINUTE;
      log.expire();
      expect(texts(log, meta, 1)).toEqual(["b"]);
      // The alarm does not ring at once again.
      expect(log.expiresAt()).toBe(126 * MINUTE);
      fixture.now = 120 * MINUTE - 1;
      expect(kinds(log, meta)).toEqual(["found"]);
      fixture.now += 1;
      expect(kinds(log, meta)).toEqual(["unknown"]);
      expect(texts(log, meta)).toEqual([]);
    });
  });

  test("of a finished stream is gone as soon as its reader has left", async ({ expect }) => {
    await withLog((fixture) => {
      const meta = fixture.finished("a");
      meta.isInUse = true;
      fixture.now += 66 * MINUTE;
      fixture.log.expire();
      meta.isInUse = false;
      expect(kinds(fixture.log, meta)).toEqual(["unknown"]);
    });
  });

  test("of a live stream stays, however old it is", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      log.append(meta, "a");
      fixture.now += 1000 * MINUTE;
      expect(log.expiresAt()).toBeUndefined();
      expect(kinds(log, meta)).toEqual(["found"]);
      expect(texts(fixture.again(), meta)).toEqual(["a"]);
    });
  });

  test("of a stream that never ends is deleted event by event; its position stays", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openStandalone();
      log.append(meta, "secret one");
      fixture.now += 30 * MINUTE;
      log.append(meta, "secret two");
      fixture.now += 30 * MINUTE;
      expect([log.find(at(meta)).kind, log.find(at(meta, 1)).kind]).toEqual(["gone", "found"]);
      fixture.now += 30 * MINUTE;
      expect([log.find(at(meta, 1)).kind, log.find(at(meta, 2)).kind]).toEqual(["gone", "found"]);
      const rows = JSON.stringify([...fixture.storage.exec("SELECT * FROM events_1")]);
      expect(rows).not.toContain("secret");
      // Another life finds the place, and goes on after it.
      const again = fixture.again();
      const found = again.find(at(meta, 2));
      if (found.kind !== "found") throw new Error(found.kind);
      expect(again.find(at(meta, 1)).kind).toBe("gone");
      expect(again.append(found.meta, "three")).toBe(3);
      expect(texts(again, found.meta, 2)).toEqual(["three"]);
    });
  });
});

describe("a row", () => {
  test("is written for each event, and one to open the stream of a POST", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      fixture.finished("the table is made"); // with the first row of all
      const standalone = log.openStandalone();
      let meta: StreamMeta | undefined;
      expect(fixture.written(() => log.openStandalone())).toBe(0);
      expect(fixture.written(() => (meta = log.openPost("[1]")))).toBe(1);
      const post = meta as unknown as StreamMeta;
      for (const stream of [standalone, post]) {
        expect(fixture.written(() => log.append(stream, "a"))).toBe(1);
      }
      expect(fixture.written(() => log.append(post, "b", { isFinal: true }))).toBe(1);
      expect(fixture.written(() => log.end(post))).toBe(0);
      expect(fixture.written(() => texts(log, post))).toBe(0);
      expect(fixture.written(() => log.find(at(post)))).toBe(0);
      expect(fixture.written(() => log.acknowledge(post, post.last))).toBe(0);
      expect(fixture.written(() => fixture.again())).toBe(0);
    });
  });

  test("has room for half a million characters; a longer event is cut between characters", async ({
    expect,
  }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openStandalone();
      const long = `${"x".repeat(512 * 1024 - 1)}𝄞${"y".repeat(512 * 1024)}`;
      log.append(meta, "before");
      expect(fixture.written(() => log.append(meta, long))).toBe(3);
      log.append(meta, "after");
      const again = fixture.again();
      expect(texts(again, meta)).toEqual(["before", long, "after"]);
      expect(texts(again, meta, 1)).toEqual([long, "after"]);
      expect(texts(again, meta, meta.last - 1)).toEqual(["after"]);
    });
  });
});

test("messages that wait for a stream are moved to it once, in order, also by another life", async ({
  expect,
}) => {
  await withLog((fixture) => {
    fixture.log.appendToBacklog("a", { resumeToken: "token a" });
    fixture.log.appendToBacklog("b", {});
    const again = fixture.again();
    const [first, second] = [again.openStandalone(), again.openStandalone()];
    again.moveBacklog(first);
    again.moveBacklog(second);
    expect([texts(again, first), texts(again, second)]).toEqual([["a", "b"], []]);
    expect(again.read(first, 0, Infinity)[0]?.resumeToken).toBe("token a");
  });
});

test("a move says, also in another life, that some of what waited is no longer kept", async ({
  expect,
}) => {
  await withLog(
    (fixture) => {
      fixture.log.appendToBacklog("a", {});
      fixture.now += 2 * MINUTE;
      fixture.log.expire();
      const again = fixture.again();
      again.appendToBacklog("b", {});
      const [first, second] = [again.openStandalone(), again.openStandalone()];
      expect(again.moveBacklog(first)).toBe(true);
      expect(texts(again, first)).toEqual(["b"]);
      again.appendToBacklog("c", {});
      expect(again.moveBacklog(second)).toBe(false);
    },
    { retentionMinutes: 1 },
  );
});

test("the resume token of an event is given to a later life only", async ({ expect }) => {
  await withLog((fixture) => {
    const { log } = fixture;
    const meta = log.openPost("[1]");
    log.append(meta, "question", { resumeToken: "resumeToken" });
    expect(log.inheritedResumeToken(at(meta, 1))).toBeUndefined();
    const again = fixture.again();
    const ofAnother = { ...at(meta, 1), stream: { ...meta.id, nonce: "aaaaaa000000" } };
    expect(again.inheritedResumeToken(ofAnother)).toBeUndefined();
    expect(again.inheritedResumeToken(at(meta, 1))).toBe("resumeToken");
  });
});

describe("the answer to a question", () => {
  const LONG = "x".repeat(1_200_000);

  test("is taken once, in whatever life, and kept until it is delivered", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      log.append(meta, "question", { resumeToken: "resumeToken" });
      expect(log.isAnswered(at(meta, 1))).toBe(false);
      expect(log.keepAnswer(at(meta, 1), "resumeToken", LONG)).toBe(true);
      expect(log.keepAnswer(at(meta, 1), "resumeToken", "another")).toBe(false);
      const second = fixture.again();
      expect(second.keepAnswer(at(meta, 1), "resumeToken", "another")).toBe(false);
      expect([...second.keptAnswers()]).toEqual([
        { position: at(meta, 1), resumeToken: "resumeToken", reply: LONG },
      ]);
      second.answerDelivered(at(meta, 1));
      const third = fixture.again();
      expect([...third.keptAnswers()]).toEqual([]);
      expect(third.keepAnswer(at(meta, 1), "resumeToken", "another")).toBe(false);
      expect(third.isAnswered(at(meta, 1))).toBe(true);
    });
  });

  test("costs a row when it is taken, and one when it is delivered", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      log.append(meta, "first", { resumeToken: "resumeToken" });
      log.append(meta, "second", { resumeToken: "resumeToken" });
      log.keepAnswer(at(meta, 1), "resumeToken", "the table is made");
      expect(fixture.written(() => log.keepAnswer(at(meta, 2), "resumeToken", "answer"))).toBe(1);
      expect(fixture.written(() => log.answerDelivered(at(meta, 2)))).toBe(1);
    });
  });

  test("is deleted with the stream that the question was asked on", async ({ expect }) => {
    await withLog((fixture) => {
      const { log, storage } = fixture;
      const [meta, other] = [log.openPost("[1]"), log.openPost("[2]")];
      for (const one of [meta, other]) {
        log.append(one, "question", { resumeToken: "resumeToken" });
        log.keepAnswer(at(one, 1), "resumeToken", "answer");
      }
      log.forget(meta);
      const left = storage.exec<{ n: number }>("SELECT count(*) AS n FROM answers_1").one();
      expect(left.n).toBe(1);
      expect([...log.keptAnswers()].map(({ position }) => position)).toEqual([at(other, 1)]);
    });
  });

  test("for a stream that is no longer kept is not kept either", async ({ expect }) => {
    await withLog((fixture) => {
      const { log } = fixture;
      const meta = log.openPost("[1]");
      log.forget(meta);
      expect(log.keepAnswer(at(meta, 1), "resumeToken", "answer")).toBe(true);
      log.openPost("[2]");
      expect([...log.keptAnswers()]).toEqual([]);
    });
  });
});

test("a closed log writes nothing", async ({ expect }) => {
  await withLog((fixture) => {
    const { log, storage } = fixture;
    const [post, standalone] = [log.openPost("[1]"), log.openStandalone()];
    log.append(post, "a");
    log.appendToBacklog("b", {});
    storage.exec("DROP TABLE events_1");
    log.close();
    expect(log.append(post, "late", { isFinal: true })).toBe(2);
    log.note(post, "resumeToken");
    log.end(post);
    log.append(standalone, "late");
    log.moveBacklog(standalone);
    log.appendToBacklog("late", {});
    log.append(log.openStandalone(), "late");
    log.expire();
    // What is due and cannot be done would wake the object again at once, for ever.
    expect(log.expiresAt()).toBeUndefined();
    expect([...storage.exec("SELECT 1 FROM sqlite_master WHERE name = 'events_1'")]).toEqual([]);
    expect(kinds(log, post, standalone)).toEqual(["unknown", "unknown"]);
    const begun = fixture.finished("new");
    expect(kinds(fixture.again(), begun)).toEqual(["unknown"]);
  });
});

test("the newest resume tokens of a stream are found in every life, the newest first, and no others", async ({
  expect,
}) => {
  await withLog((fixture) => {
    const { log } = fixture;
    const meta = log.openStandalone();
    expect([...log.recentResumeTokens(meta)]).toEqual([]);
    for (const resumeToken of ["t1", "t2"]) log.append(meta, "a", { resumeToken });
    log.append(log.openStandalone(), "b", { resumeToken: "of another" });
    expect([...fixture.again().recentResumeTokens(meta)]).toEqual(["t2", "t1"]);
  });
});
