/** The members that a modern result must have and lenient servers leave out (2026-07-28, schema). */

import { describe, test } from "vitest";

import { parseLossless } from "../../../src/lib/lossless-json.ts";
import { completeModernResult } from "../../../src/protocol/modern-result.ts";

const stamps = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

describe("completeModernResult()", () => {
  test.for([
    {
      name: "stamps a bare result of a method that is not cacheable",
      method: "tools/call",
      result: { content: [] },
      expected: { content: [], resultType: "complete" },
    },
    {
      name: "stamps a bare result of a cacheable method with the safest values",
      method: "tools/list",
      result: { tools: [] },
      expected: { tools: [], ...stamps },
    },
    {
      name: "takes null for an absent type",
      method: "ping",
      result: { resultType: null },
      expected: { resultType: "complete" },
    },
    {
      name: "keeps what is valid",
      method: "resources/read",
      result: { contents: [], resultType: "complete", ttlMs: 5000, cacheScope: "public" },
      expected: { contents: [], resultType: "complete", ttlMs: 5000, cacheScope: "public" },
    },
    {
      name: "keeps a ttl with its text",
      method: "prompts/list",
      result: { ttlMs: parseLossless("60000.0"), cacheScope: "public" },
      expected: { ...stamps, ttlMs: parseLossless("60000.0"), cacheScope: "public" },
    },
    {
      name: "keeps a ttl of 0",
      method: "prompts/list",
      result: { ttlMs: 0, cacheScope: "public" },
      expected: { ...stamps, cacheScope: "public" },
    },
    ...[-1, 1.5, "60", null, Infinity].map((ttlMs) => ({
      name: `replaces the ttl ${JSON.stringify(ttlMs)}`,
      method: "server/discover",
      result: { ttlMs },
      expected: stamps,
    })),
    ...["Public", "shared", null, 1].map((cacheScope) => ({
      name: `makes the scope ${JSON.stringify(cacheScope)} private`,
      method: "resources/list",
      result: { cacheScope },
      expected: stamps,
    })),
    {
      name: "leaves a question without cache stamps",
      method: "resources/read",
      result: { resultType: "input_required", inputRequests: {} },
      expected: { resultType: "input_required", inputRequests: {} },
    },
    {
      name: "leaves stamps of a method that owes none",
      method: "tools/call",
      result: { ttlMs: -1 },
      expected: { ttlMs: -1, resultType: "complete" },
    },
  ])("$name", ({ method, result, expected }, { expect }) => {
    expect(completeModernResult(method, result)).toEqual(expected);
  });

  test.for(["task", "Complete", "", 1, {}, false])(
    "refuses the type %j",
    (resultType, { expect }) => {
      expect(completeModernResult("tools/call", { resultType })).toBeUndefined();
    },
  );

  describe("of tasks", () => {
    const task = { resultType: "task", taskId: "t" };

    test("accepts one for a call that declared them, and for no other", ({ expect }) => {
      expect(completeModernResult("tools/call", task, true)).toEqual(task);
      expect(completeModernResult("tools/call", task, false)).toBeUndefined();
      for (const method of ["prompts/get", "resources/read", "tools/list", "tasks/update"]) {
        expect(completeModernResult(method, task, true)).toBeUndefined();
      }
    });

    test("accepts the state of one as in the extension's own examples", ({ expect }) => {
      const complete = { ...task, resultType: "complete" };
      expect(completeModernResult("tasks/get", task, true)).toEqual(complete);
      expect(completeModernResult("tasks/get", { taskId: "t" }, true)).toEqual(complete);
    });

    test.for(["tasks/get", "tasks/update", "tasks/cancel"])(
      "accepts no input request in a result of %s",
      (method, { expect }) => {
        const result = { resultType: "input_required", inputRequests: {} };
        expect(completeModernResult(method, result, true)).toBeUndefined();
      },
    );
  });
});
