/** The sinks of records: what they get, when, and that none of them can harm a call or another one. */

import { describe, test, vi } from "vitest";

import {
  type CallRecord,
  type CallSink,
  recordCall,
} from "../../../src/observability/call-record.ts";
import { linesOf } from "../dispatch/guard/guarded-fixture.ts";

const RECORD: CallRecord = {
  ...{ at: 1000, principal: "ann.app", person: "ann", client: "app", clientName: "A client" },
  ...{ clientEra: "modern", serverEra: "legacy", server: "s", method: "tools/call", name: "work" },
  ...{ effect: "read", outcome: "ok", ms: 20, upstreamMs: 15, requestBytes: 2, resultBytes: 3 },
  traceId: "0af7651916cd43dd8448eb211c80319c",
};

describe("the record of a call", () => {
  test("is a line in the log, and goes to each sink, whatever another one does", async ({
    expect,
  }) => {
    const got: CallRecord[] = [];
    const waitUntil = vi.fn<(promise: Promise<unknown>) => void>();
    const sink: CallSink = { record: (record) => void got.push(record) };
    const broken: CallSink = {
      record() {
        throw new Error("SECRET");
      },
    };
    const lines = await linesOf(() => {
      const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
      recordCall(RECORD, { sinks: [broken, sink], waitUntil });
      errors.mockRestore();
      return Promise.resolve();
    });
    expect(got).toEqual([RECORD]);
    // To keep the platform waiting is dear, and nothing is left to be waited for.
    expect(waitUntil).not.toHaveBeenCalled();
    const { at: _, person: _person, client: _client, ...shown } = RECORD;
    expect(lines).toEqual([{ event: "call", ...shown }]);
  });

  test("has the caller, the names of the client's era, the effect and the trace, where they are known", async ({
    expect,
  }) => {
    const waitUntil = vi.fn<(promise: Promise<unknown>) => void>();
    const { at, principal, server, method, outcome, ms, requestBytes, resultBytes } = RECORD;
    const bare = { at, principal, server, method, outcome, ms, requestBytes, resultBytes };
    const lines = await linesOf(() => Promise.resolve(recordCall(bare, { waitUntil })));
    const { at: _, ...shown } = bare;
    expect(lines).toEqual([{ event: "call", ...shown }]);
    expect(waitUntil).not.toHaveBeenCalled();
  });
});
