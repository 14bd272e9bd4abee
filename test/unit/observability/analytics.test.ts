/** The point of a call: its columns, and that nobody can make up new values for them. */

import { assert, property, string } from "fast-check";
import { describe, test } from "vitest";

import { analyticsSink, type Dataset } from "../../../src/observability/analytics.ts";
import type { CallRecord } from "../../../src/observability/call-record.ts";

type Point = Parameters<Dataset["writeDataPoint"]>[0];

const RECORD: CallRecord = {
  ...{ at: 1000, principal: "ann.app", person: "ann", client: "app", clientName: "A client" },
  ...{ clientEra: "modern", serverEra: "legacy", server: "s", method: "tools/call", name: "work" },
  ...{ effect: "read", outcome: "ok", ms: 20, upstreamMs: 15, requestBytes: 2, resultBytes: 3 },
  traceId: "0af7651916cd43dd8448eb211c80319c",
};

function pointOf(record: Partial<CallRecord>): Point {
  const points: Point[] = [];
  const sink = analyticsSink({ writeDataPoint: (point) => void points.push(point) });
  sink.record({ ...RECORD, ...record }, () => undefined);
  const [point, ...others] = points;
  if (point === undefined || others.length > 0) throw new Error("one point for each call");
  return point;
}

describe("the point of a call", () => {
  test("has the columns that are documented", ({ expect }) => {
    expect(pointOf({})).toEqual({
      indexes: ["s"],
      blobs: ["tools/call", "work", "ok", "", "application", "modern", "legacy", "read"],
      doubles: [20, 15, 2, 3],
    });
  });

  test.for([
    ["tool_error", "tool_error"],
    ["error:-32602", "-32602"],
    ["refused:rate", "refused_rate"],
    ["cancelled", "cancelled"],
  ] as const)("T7: names the type of an error: %s", ([outcome, type], { expect }) => {
    expect(pointOf({ outcome }).blobs.slice(2, 4)).toEqual([outcome, type]);
  });

  test("T8: has no tool that the catalog does not have, and no method that no revision has", ({
    expect,
  }) => {
    const tools = new Set<string>();
    assert(
      property(string(), string(), (name, method) => {
        const point = pointOf({ name, effect: undefined });
        tools.add(String(point.blobs[1]));
        expect(pointOf({ name, method: `x${method}` }).blobs.slice(0, 2)).toEqual(["_other", ""]);
      }),
    );
    expect([...tools]).toEqual(["_other"]);
  });

  test("has nothing of the person, the application or the trace", ({ expect }) => {
    const text = JSON.stringify(pointOf({}));
    for (const secret of ["ann", "A client", RECORD.traceId]) expect(text).not.toContain(secret);
  });
});
