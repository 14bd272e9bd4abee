/** The grammar of W3C Trace Context: what is a context, what begins a trace anew, and what is passed on. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { newTrace } from "../../../src/protocol/call-span.ts";
import {
  readTraceContext,
  traceContextOf,
  traceHeaders,
  withoutTraceKeys,
} from "../../../src/protocol/trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const PARENT = `00-${TRACE}-${SPAN}-01`;
/** Some hexadecimal digits, not all zero. */
function hex(length: number): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...HEX), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""))
    .filter((text) => !/^0+$/.test(text));
}

const HEX = Array.from("0123456789abcdef");

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}=v`).join(",");
}

describe("traceparent", () => {
  test.for([
    ["of this version", PARENT, "01"],
    ["not sampled", `00-${TRACE}-${SPAN}-00`, "00"],
    ["with a random id", `00-${TRACE}-${SPAN}-03`, "03"],
    ["with flags that nobody knows yet", `00-${TRACE}-${SPAN}-fd`, "01"],
    ["of a later version", `cc-${TRACE}-${SPAN}-01`, "01"],
    ["of a later version, with more members", `cc-${TRACE}-${SPAN}-01-what-comes`, "01"],
  ] as const)("is a context: %s", ([, parent, flags], { expect }) => {
    expect(readTraceContext(parent, undefined)).toEqual({
      ...{ traceId: TRACE, flags, isCallers: true },
    });
  });

  test.for([
    ["no text", 1],
    ["empty", ""],
    ["an unknown form", "00-a-b-01"],
    ["the version that is forbidden", `ff-${TRACE}-${SPAN}-01`],
    ["more members than this version has", `${PARENT}-00`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a parent of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["capital letters", PARENT.toUpperCase()],
    ["space around it", ` ${PARENT}`],
    ["a line break at its end", `${PARENT}\n`],
    ["a later version whose flags go on", `cc-${TRACE}-${SPAN}-01x`],
    ["two of them", `${PARENT},${PARENT}`],
  ] as const)("is none: %s", ([, parent], { expect }) => {
    expect(readTraceContext(parent, "a=b")).toBeUndefined();
  });

  test("written anew, is read as the same trace", ({ expect }) => {
    fc.assert(
      fc.property(
        hex(32),
        hex(16),
        hex(16),
        fc.constantFrom("00", "01", "02", "03"),
        (...parts) => {
          const [traceId, parent, own, flags] = parts;
          const trace = readTraceContext(`00-${traceId}-${parent}-${flags}`, "a=b,c=d");
          if (trace === undefined) throw new Error("a context was not read");
          const { traceparent, tracestate } = traceHeaders(trace, own);
          expect(traceparent).toBe(`00-${traceId}-${own}-${flags}`);
          expect(readTraceContext(traceparent, tracestate)).toEqual(trace);
        },
      ),
    );
  });
});

describe("tracestate", () => {
  test.for([
    "rojo=00f067aa0ba902b7",
    "rojo=1,congo=t61rcWkgMzE",
    "fw529a3039@dt=FfAAAA==".replaceAll("==", ""),
    "a=b, \tc=d ,,",
    "a= b!~",
    members(32),
  ])("is passed on as it is: %s", (text, { expect }) => {
    expect(readTraceContext(PARENT, text)?.state).toBe(text);
  });

  test.for([
    ["no text", 1],
    ["empty", ""],
    ["nothing but commas", " ,, "],
    ["a key with a capital letter", "A=b"],
    ["no value", "a="],
    ["a value with an equals sign", "a=b=c"],
    ["a control character", "a=b\u0000"],
    ["a key twice", "a=b,a=c"],
    ["too many members", members(33)],
    ["too long", `a=${"b".repeat(256)},b=${"b".repeat(256)}`],
    ["a header of its own", "a=b\r\nX: y"],
  ] as const)("is left out, and the trace goes on: %s", ([, text], { expect }) => {
    expect(readTraceContext(PARENT, text)).toEqual({
      ...{ traceId: TRACE, flags: "01", isCallers: true },
    });
  });
});

describe("a request's context", () => {
  test("is that of the message, else that of the headers", ({ expect }) => {
    const headers = readTraceContext(PARENT.replace(TRACE, "f".repeat(32)), undefined);
    const of = (meta: unknown): string | undefined =>
      traceContextOf({ _meta: meta }, headers)?.traceId;
    expect(of({ traceparent: PARENT })).toBe(TRACE);
    expect(of({ traceparent: "00-a-b-01" })).toBe("f".repeat(32));
    expect(of({ tracestate: "a=b" })).toBe("f".repeat(32));
    expect(of("nothing")).toBe("f".repeat(32));
    expect(traceContextOf(undefined, undefined)).toBeUndefined();
  });

  test("of a trace that begins here is sampled, and no two are alike", ({ expect }) => {
    const [one, other] = [newTrace(undefined), newTrace(undefined)];
    expect(one).toEqual({
      ...{ traceId: expect.stringMatching(/^[\da-f]{32}$/) as string },
      ...{ flags: "01", isCallers: false },
    });
    expect(one.traceId).not.toBe(other.traceId);
  });

  test("takes no other key of _meta with it", ({ expect }) => {
    const own = { "example.com/own": [1], progressToken: 1 };
    expect(withoutTraceKeys(own)).toBe(own);
    const traced = { ...own, traceparent: "x", tracestate: "y", baggage: "secret=1" };
    expect(withoutTraceKeys(traced)).toEqual(own);
  });
});
