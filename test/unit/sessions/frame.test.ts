/** The frames between a session's object and the Worker that holds a client's stream. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  eventFrame,
  isControlFrame,
  OVER,
  parseFrame,
  watchFrame,
} from "../../../src/sessions/frame.ts";

const ID = "p3.2-7dfc24f525f5";
const WATCH_REQUEST = { sessionId: "s-1 ü", revision: "2025-11-25", lastEventId: "e 1\n" };

describe("a frame", () => {
  test("keeps an event's id and any data on one line", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const data = JSON.stringify(value);
        const line = eventFrame(ID, data);
        expect(line).not.toContain("\n");
        expect(isControlFrame(line)).toBe(false);
        expect(parseFrame(line)).toEqual({ kind: "event", id: ID, data });
      }),
    );
  });

  test("without data marks a place", ({ expect }) => {
    expect(parseFrame(eventFrame(ID, ""))).toEqual({ kind: "event", id: ID, data: "" });
  });

  test("ends the connection, and is not a control frame", ({ expect }) => {
    expect(parseFrame(OVER)).toEqual({ kind: "over" });
    expect(isControlFrame(OVER)).toBe(false);
  });

  test("starts a watch on one line, and stops it", ({ expect }) => {
    const line = watchFrame(WATCH_REQUEST);
    expect(line).not.toContain("\n");
    expect([isControlFrame(line), parseFrame(line)]).toEqual([
      true,
      { kind: "watch", request: WATCH_REQUEST },
    ]);
    const end = watchFrame(undefined);
    expect([isControlFrame(end), parseFrame(end)]).toEqual([true, { kind: "unwatch" }]);
  });

  test.for(["!watch ", "!watch {", "!watch 7", "!watch null", "!watch []"])(
    "starts no watch when it is malformed: %j",
    (line, { expect }) => {
      expect(parseFrame(line)).toEqual({ kind: "unwatch" });
    },
  );
});
