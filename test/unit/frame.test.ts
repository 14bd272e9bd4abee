/** The lines between the holder of a session and the holder of a client's stream. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { eventFrame, isOrder, OVER, parseFrame, watchFrame } from "../../src/sessions/frame.ts";

const ID = "p3.2-7dfc24f525f5";
const ORDER = { sessionId: "s-1 ü", revision: "2025-11-25", lastEventId: "e 1\n" };

describe("a frame", () => {
  test("of an event keeps its id and any data, on one line", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const data = JSON.stringify(value);
        const line = eventFrame(ID, data);
        expect(line).not.toContain("\n");
        expect(isOrder(line)).toBe(false);
        expect(parseFrame(line)).toEqual({ kind: "event", id: ID, data });
      }),
    );
  });

  test("without data is a place", ({ expect }) => {
    expect(parseFrame(eventFrame(ID, ""))).toEqual({ kind: "event", id: ID, data: "" });
  });

  test("tells the end, and is not taken for an order", ({ expect }) => {
    expect(parseFrame(OVER)).toEqual({ kind: "over" });
    expect(isOrder(OVER)).toBe(false);
  });

  test("orders a watch, on one line, and its end", ({ expect }) => {
    const line = watchFrame(ORDER);
    expect(line).not.toContain("\n");
    expect([isOrder(line), parseFrame(line)]).toEqual([true, { kind: "watch", order: ORDER }]);
    const end = watchFrame(undefined);
    expect([isOrder(end), parseFrame(end)]).toEqual([true, { kind: "unwatch" }]);
  });

  test.for(["!watch ", "!watch {", "!watch 7", "!watch null", "!watch []"])(
    "orders nothing to be watched when it is broken: %j",
    (line, { expect }) => {
      expect(parseFrame(line)).toEqual({ kind: "unwatch" });
    },
  );
});
