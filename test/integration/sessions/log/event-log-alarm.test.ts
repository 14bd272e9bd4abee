/**
 * What a log says is due next, the alarm of its holder is set to. So it has to lie ahead, and the
 * alarm has to find something to do then: or it would ring without end.
 */

import { describe, test } from "vitest";

import { at, MINUTE, withLog } from "./log-fixture.ts";

/** Deleted a tenth later than it could be. */
const DUE = 66 * MINUTE;

describe("of a stream of which only the place was left,", () => {
  test.for([
    { name: "the life that wrote to it", isAnother: false },
    { name: "another life", isAnother: true },
  ])(
    "$name knows when the next event goes, and then it does",
    async ({ isAnother }, { expect }) => {
      await withLog((fixture) => {
        const meta = fixture.log.openStandalone();
        fixture.log.append(meta, "one");
        fixture.now = DUE;
        fixture.log.expire();
        expect(fixture.log.expiresAt()).toBeUndefined();
        fixture.now = DUE + 30 * MINUTE;
        fixture.log.append(meta, "two");
        const log = isAnother ? fixture.again() : fixture.log;
        const due = log.expiresAt() ?? 0;
        expect(due).toBe(fixture.now + DUE);
        fixture.now = due;
        log.expire();
        expect(log.expiresAt()).toBeUndefined();
        expect([log.find(at(meta, 1)).kind, log.find(at(meta, 2)).kind]).toEqual(["gone", "found"]);
        expect(JSON.stringify([...fixture.storage.exec("SELECT data FROM events_1")])).toBe(
          '[{"data":""}]',
        );
      });
    },
  );

  test("later rows are deleted in batches, also in another life", async ({ expect }) => {
    await withLog((fixture) => {
      const meta = fixture.log.openStandalone();
      fixture.log.append(meta, "one");
      fixture.now = DUE;
      fixture.log.expire();
      fixture.log.append(meta, "two");
      fixture.now += 30 * MINUTE;
      fixture.log.append(meta, "three");
      for (let rings = 1; rings <= 2; rings++) {
        const log = fixture.again();
        const due = log.expiresAt();
        expect(due).toBeGreaterThan(fixture.now);
        fixture.now = due ?? 0;
        log.expire();
        expect(log.find(at(meta, rings)).kind).toBe("gone");
        expect(log.find(at(meta, rings + 1)).kind).toBe("found");
      }
      expect(fixture.again().expiresAt()).toBeUndefined();
    });
  });
});
