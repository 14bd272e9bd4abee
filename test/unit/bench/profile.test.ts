/** What a profile is summed up to: by file and by function, each moment counted once. */

import { test } from "vitest";

import { kindsOf, whereTimeGoes } from "../../../bench/profile/where-time-goes.ts";

const frame = (functionName: string): { functionName: string; url: string } & Position => ({
  ...{ functionName, url: "index.js", lineNumber: 0, columnNumber: 0 },
});
interface Position {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** `a` calls `b`, which calls `a` again; and nobody is at work for a while. */
const PROFILE = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2, 5] },
    { id: 2, callFrame: frame("a"), children: [3] },
    { id: 3, callFrame: frame("b"), children: [4] },
    { id: 4, callFrame: frame("a") },
    { id: 5, callFrame: frame("(idle)") },
  ],
  samples: [2, 3, 4, 4, 5],
  timeDeltas: [10, 20, 30, 40, 1000],
};

test("whereTimeGoes() counts what is called with the caller, and recursion once", ({ expect }) => {
  const where = whereTimeGoes(PROFILE, ({ functionName }) => ({
    file: functionName === "(root)" ? "" : "one.ts",
    function: functionName,
  }));
  expect(where.busyUs).toBe(100);
  expect(where.functions).toContainEqual({ place: "a", selfUs: 80, totalUs: 100 });
  expect(where.functions).toContainEqual({ place: "b", selfUs: 20, totalUs: 90 });
  expect(where.files).toContainEqual({ place: "one.ts", selfUs: 100, totalUs: 100 });
});

test("kindsOf() tells the gateway from its libraries and from the platform", ({ expect }) => {
  const files = [
    ...["src/app.ts", "durable-objects/session-object.ts", "eventsource-parser/src/parse.ts"],
    ...["fetch", "node-internal:internal_timers", "(program)", "(garbage collector)"],
  ].map((place) => ({ place, selfUs: 10, totalUs: 50 }));
  expect(kindsOf(files).map(({ place, selfUs }) => [place, selfUs])).toEqual([
    ["the gateway", 20],
    ["its libraries", 10],
    ["the platform's functions, and the platform itself", 30],
    ["garbage collection", 10],
  ]);
});
