/** The log line of every call: the values that are in it, and those that never are. */

import { describe, test } from "vitest";

import { loggedForAll } from "../../../../src/dispatch/guard/logged.ts";
import { analyticsSink } from "../../../../src/observability/analytics.ts";
import { type CallRecord, loggableUri } from "../../../../src/observability/call-record.ts";
import { Glob } from "../../../../src/policy/glob.ts";
import { errorReply, type Reply } from "../../../../src/protocol/json-rpc.ts";
import {
  DEAD,
  guardScene,
  linesOf,
  MODERN_TOOL,
  OK,
  pending,
  READ,
  TOOL,
} from "./guarded-fixture.ts";

describe("the log line of a call", () => {
  test("has the principal, the request, the server, the duration, the outcome and the size", async ({
    expect,
  }) => {
    const scene = guardScene();
    const held = pending();
    const lines = await linesOf(async () => {
      const running = scene.call(held.run);
      scene.now += 1234;
      held.end(OK);
      await running;
    });
    expect(lines).toEqual([
      {
        ...{ event: "call", principal: "ann", method: "tools/call", name: "work", server: "s" },
        ...{ ms: 1234, outcome: "ok" },
        requestBytes: JSON.stringify(TOOL.params).length,
        resultBytes: JSON.stringify("result" in OK ? OK.result : {}).length,
      },
    ]);
  });

  test.for<{ readonly name: string; readonly reply: Reply; readonly outcome: string }>([
    { name: "a tool that failed", reply: { result: { isError: true } }, outcome: "tool_error" },
    { name: "an error", reply: errorReply(-32602, "no"), outcome: "error:-32602" },
    { name: "an upstream that failed", reply: DEAD, outcome: "error:-32603" },
    { name: "questions", reply: { result: { resultType: "input_required" } }, outcome: "ok" },
  ])("names the outcome: $name", async ({ reply, outcome }, { expect }) => {
    const scene = guardScene();
    expect(await linesOf(() => scene.call(reply))).toMatchObject([{ outcome }]);
  });

  test("has the reason of a refusal, and of a failure", async ({ expect }) => {
    const paused = guardScene({ failuresBeforePause: 1 });
    await paused.call(DEAD);
    const rated = guardScene({ requestsPerMinutePerServer: 1 });
    await rated.call(OK);
    const crowded = guardScene({ requestsInFlightPerServer: 1 });
    const held = pending();
    const running = crowded.call(held.run);
    const sized = guardScene({ resultBytes: 10 });
    const lines = await linesOf(async () => {
      for (const scene of [paused, rated, crowded, sized]) await scene.call(OK);
      await sized.call(() => Promise.reject(new Error("gone"))).catch(() => undefined);
    });
    held.end(OK);
    await running;
    expect(lines.map(({ outcome }) => outcome)).toEqual([
      ...["refused:paused", "refused:rate", "refused:concurrency", "refused:result_size"],
      "cancelled",
    ]);
  });

  test("has no arguments, no results, and nothing of a URI that may be secret", async ({
    expect,
  }) => {
    const scene = guardScene();
    const records: CallRecord[] = [];
    const points: unknown[] = [];
    scene.sinks = [
      { record: (record) => void records.push(record) },
      analyticsSink({ writeDataPoint: (point) => void points.push(point) }),
    ];
    const call = { method: "tools/call", params: { name: "work", arguments: { key: "SECRET" } } };
    const uri = "https://user:SECRET@host/path?token=SECRET#SECRET";
    const lines = await linesOf(async () => {
      await scene.call({ result: { content: [{ text: "SECRET" }] } }, call);
      await scene.call(errorReply(-32000, "SECRET", "SECRET"), { ...READ, params: { uri } });
      const ref = { type: "ref/resource", uri };
      const params = { ref, argument: { name: "a", value: "SECRET" } };
      await scene.call(OK, { method: "completion/complete", params });
    });
    await Promise.all(scene.waiting);
    expect([records.length, points.length]).toEqual([3, 3]);
    expect(JSON.stringify([lines, records, points])).not.toContain("SECRET");
    expect(lines.map(({ name }) => name)).toEqual([
      ...["work", "https://host/path", "https://host/path"],
    ]);
  });

  test("is one short line, whatever the names are", async ({ expect }) => {
    const scene = guardScene();
    const name = `a\nb\u202e${"x".repeat(100_000)}`;
    const [line] = await linesOf(() => scene.call(OK, { ...TOOL, params: { name } }));
    expect(String(line?.["name"])).toMatch(/^a bx+…$/);
    expect(JSON.stringify(line).length).toBeLessThan(500);
  });
});

describe("a request that all servers answer together", () => {
  test("has one log line, for all servers", async ({ expect }) => {
    const call = { method: "tools/list", params: { cursor: "c" } };
    const scope = { principal: "ann", waitUntil: () => undefined };
    const lines = await linesOf(() =>
      loggedForAll(scope, undefined, call, () => Promise.resolve(OK)),
    );
    expect(lines).toMatchObject([
      { principal: "ann", server: "*", method: "tools/list", outcome: "ok", requestBytes: 14 },
    ]);
    expect(lines[0]).not.toHaveProperty("name");
  });
});

describe("loggableUri()", () => {
  test.for([
    ["https://a.b/c?d#e", "https://a.b/c"],
    ["https://user@a.b/c", "https://a.b/c"],
    ["https://u:p@ss@a.b/c@d", "https://a.b/c@d"],
    ["https:\\\\u:p@a.b", "https:\\\\a.b"],
    ["db://u:p@host", "db://host"],
    ["note:1", "note:1"],
    ["data:text/plain,SECRET", "data:"],
    ["BLOB:x", "BLOB:"],
    ["#x", ""],
    ["", ""],
  ])("%s", ([uri = "", expected], { expect }) => {
    expect(loggableUri(uri)).toBe(expected);
  });
});

describe("what a client is promised of an answer", () => {
  const deny = [new Glob("secret:*")];
  const policy = { allow: undefined, deny, rename: new Map<string, string>() };

  test("a resource that is missing looks like one that is forbidden", async ({ expect }) => {
    const scene = guardScene({}, { resources: policy });
    const missing = { uri: "a://b" };
    for (const code of [-32002, -32602]) {
      expect(await scene.call(errorReply(code, "I know no a://b"), READ)).toEqual(
        errorReply(-32002, "Resource not found", missing),
      );
      const modern = { ...READ, params: { ...READ.params, _meta: MODERN_TOOL.params?.["_meta"] } };
      expect(await scene.call(errorReply(code, "I know no a://b"), modern)).toEqual(
        errorReply(-32602, "Resource not found", missing),
      );
    }
    const other = errorReply(-32603, "no");
    expect(await scene.call(other, READ)).toBe(other);
  });

  test("where nothing is forbidden, the server has its own words", async ({ expect }) => {
    const reply = errorReply(-32002, "I know no a://b");
    expect(await guardScene().call(reply, READ)).toBe(reply);
  });

  test("a server without completions has none to offer, where others have some", async ({
    expect,
  }) => {
    const call = { method: "completion/complete", params: { ref: {} } };
    const reply = errorReply(-32601, "Method not found");
    expect(await guardScene().call(reply, call)).toEqual({
      result: { completion: { values: [] } },
    });
    expect(await guardScene({}, { isMerged: false }).call(reply, call)).toBe(reply);
    const modern = { ...call, params: { ...call.params, _meta: MODERN_TOOL.params?.["_meta"] } };
    expect(await guardScene().call(reply, modern)).toEqual({
      result: { completion: { values: [] }, resultType: "complete" },
    });
    const other = errorReply(-32602, "no such argument");
    expect(await guardScene().call(other, call)).toBe(other);
  });
});
