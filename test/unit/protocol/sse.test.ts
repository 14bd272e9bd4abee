/** Events written by `encodeEvent` and read back as messages, in any chunks and line ends. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { encodeEvent, KEEP_ALIVE, SSE_HEADERS } from "../../../src/protocol/sse.ts";
import type { SsePosition } from "../../../src/upstream/read-messages.ts";
import { bytesOf } from "../upstream/fake-target.ts";
import { answer, cut, EVENTS, notice, readAll, target } from "../upstream/read-back.ts";

describe("encodeEvent()", () => {
  test.for([
    { name: "data alone", event: { data: "a" }, text: "data: a\n\n" },
    { name: "empty data", event: { id: "1", data: "" }, text: "id: 1\ndata: \n\n" },
    {
      name: "every field",
      event: { event: "message", id: "7", retry: 0, data: "a" },
      text: "event: message\nid: 7\nretry: 0\ndata: a\n\n",
    },
    {
      name: "data of several lines, however they end",
      event: { data: "a\nb\rc\r\nd\n" },
      text: "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n",
    },
  ])("writes $name", ({ event, text }, { expect }) => {
    expect(encodeEvent(event)).toBe(text);
  });

  test.for(["1\ndata: forged", "1\rdata: forged", "1\r\n", "1\0"])(
    "refuses the id or event name %j",
    (value, { expect }) => {
      expect(() => encodeEvent({ id: value, data: "a" })).toThrow(TypeError);
      expect(() => encodeEvent({ event: value, data: "a" })).toThrow(TypeError);
    },
  );

  test("never lets data forge a field or an event", ({ expect }) => {
    const hostile = fc.string({
      unit: fc.constantFrom("\n", "\r", "id: 1", "event: x", ":", " ", "a"),
    });
    fc.assert(
      fc.property(hostile, (data) => {
        const lines = encodeEvent({ data }).split("\n");
        expect(lines.slice(-2)).toEqual(["", ""]);
        for (const line of lines.slice(0, -2)) expect(line).toMatch(/^data: [^\r]*$/);
      }),
    );
  });
});

describe("what was written is read back", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
  const value = fc.oneof(text, fc.jsonValue());

  test("for any messages, in any chunks of bytes, with any line ends", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 4 }),
        sizes,
        fc.constantFrom("\n", "\r", "\r\n"),
        fc.constantFrom(undefined, 2, "\t"),
        async (values, sizes, lineEnd, indent) => {
          const events = values.map((value, index) => {
            const data = notice(value, indent);
            return encodeEvent({ event: "message", id: `${index}`, data }) + KEEP_ALIVE;
          });
          const bytes = bytesOf(events.join("").replaceAll("\n", lineEnd));
          const resume: SsePosition = {};
          const messages = await readAll(answer(cut(bytes, sizes), EVENTS), target, resume);
          expect(messages).toEqual(JSON.parse(JSON.stringify(values)));
          expect(resume.lastEventId).toBe(
            values.length === 0 ? undefined : String(values.length - 1),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

test("no cache and no proxy may hold an event back", ({ expect }) => {
  expect(KEEP_ALIVE).toBe(": keepalive\n\n");
  expect(SSE_HEADERS).toEqual({
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
});
