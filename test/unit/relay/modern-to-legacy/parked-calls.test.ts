/** The rows of parked calls, when their storage is emptied while the calls still run. */

import { test } from "vitest";

import { ParkedCalls } from "../../../../src/relay/modern-to-legacy/parked-calls.ts";
import { withSql } from "../../lib/sql-fixture.ts";

const ROUND = { round: 1, questions: {}, questionTokens: {}, resumeToken: undefined, asked: 1 };
const STAY = { due: 1000, sessionId: undefined };

test("of a call that goes on when the storage was emptied, nothing is kept", ({ expect }) =>
  withSql(({ sql }) => {
    const calls = new ParkedCalls(sql);
    calls.park("one", ROUND, STAY);
    calls.emptied();
    for (const name of ["parked_calls_1", "parked_texts_1"]) sql.exec(`DROP TABLE ${name}`);
    calls.answer("one", {}, 2000);
    calls.park("one", { ...ROUND, round: 2 }, STAY);
    calls.end("one", { result: {} }, 2000);
    calls.drop("one");
    expect(calls.all).toEqual([]);
    expect(new ParkedCalls(sql).all).toEqual([]);
  }));
