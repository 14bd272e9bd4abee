/** The line that is kept of a call. */

import { describe, test } from "vitest";

import {
  byAge,
  isFailure,
  type KeptCall,
  matches,
  outcomeKind,
  readCall,
  writeCall,
} from "../../../src/activity/call.ts";
import type { CallRecord } from "../../../src/observability/call-record.ts";

const CALL: KeptCall = {
  ...{ at: 1_700_000_000_000, person: "u_1", client: "https://app.example/c", clientName: "App" },
  ...{ era: "modern", server: "docs", method: "tools/call", name: "find", effect: "read" },
  ...{ outcome: "ok", ms: 12, requestBytes: 34, resultBytes: 56, traceId: "0".repeat(32) },
};

const { era: clientEra, ...REST } = CALL;
const RECORD = { ...REST, clientEra, principal: "u_1.hash" } as CallRecord;

describe("a line", () => {
  test("is read as it was written", ({ expect }) => {
    expect(readCall(writeCall(RECORD))).toEqual(CALL);
  });

  test("of a call that nobody knows more of has empty texts", ({ expect }) => {
    const { at, server, method, outcome, ms, requestBytes, resultBytes } = RECORD;
    const least = { at, server, method, outcome, ms, requestBytes, resultBytes };
    expect(readCall(writeCall({ ...least, principal: "u_1.hash" }))).toEqual({
      ...CALL,
      ...{ client: "", clientName: "", era: "", name: "", effect: "", traceId: "" },
    });
  });

  test("of an earlier version lacks what was added since, and a later one has more", ({
    expect,
  }) => {
    const early = JSON.stringify([CALL.at, "u_1", "c", "App", "modern", "docs", "tools/call"]);
    expect(readCall(early)).toMatchObject({ person: "u_1", server: "docs", name: "", ms: 0 });
    const late = JSON.stringify([...(JSON.parse(writeCall(RECORD)) as unknown[]), "more"]);
    expect(readCall(late)).toEqual(CALL);
  });

  test("that is none is nothing", ({ expect }) => {
    expect(["", "{}", "[", "7"].map(readCall)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("is bounded, however long the id of a client is", ({ expect }) => {
    const client = `https://app.example/${"x".repeat(5000)}`;
    expect(writeCall({ ...RECORD, client }).length).toBeLessThan(500);
  });
});

describe("an outcome", () => {
  test.for([
    ["ok", "ok", false],
    ["tool_error", "tool_error", true],
    ["error:-32602", "error", true],
    ["refused:rate", "refused", true],
    ["cancelled", "cancelled", false],
    ["of a later version", "error", true],
  ] as const)("%s", ([outcome, kind, isOne], { expect }) => {
    expect(outcomeKind(outcome)).toBe(kind);
    expect(isFailure({ outcome })).toBe(isOne);
  });
});

test("a filter narrows by each of its members", ({ expect }) => {
  const filters = [
    { person: "u_2" },
    { server: "x" },
    { name: "x" },
    { outcome: "error" },
    { traceId: "f".repeat(32) },
  ] as const;
  for (const filter of filters) expect(matches(CALL, filter)).toBe(false);
  const all = { person: "u_1", server: "docs", name: "find", outcome: "ok" } as const;
  expect([matches(CALL, {}), matches(CALL, all)]).toEqual([true, true]);
});

test("lists have one order: the newest first, and each place once", ({ expect }) => {
  const places = [1, 2, 3].flatMap((at) => ["a", "b"].map((id) => ({ at, id })));
  const sorted = places.toSorted(byAge);
  expect(sorted.map(({ at, id }) => `${at}${id}`)).toEqual(["3b", "3a", "2b", "2a", "1b", "1a"]);
  expect(places.every((place) => byAge(place, place) === 0)).toBe(true);
});
