/** A request to a server in the client's trace: its headers, and its `_meta`. */

import { describe, test } from "vitest";

import { startSpan } from "../../../src/protocol/call-span.ts";
import type { Params } from "../../../src/protocol/message-members.ts";
import { traced } from "../../../src/upstream/traced.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const OURS = new RegExp(`^00-${TRACE}-(?!b7ad6b7169203331)[\\da-f]{16}-01$`);

function spanOf(params: Params): ReturnType<typeof startSpan> {
  return startSpan({ params, trace: undefined, era: "modern", clientInfo: undefined });
}

describe("traced()", () => {
  test("gives the caller's trace a parent of the request's own, in both places", ({ expect }) => {
    const _meta = { traceparent: PARENT, tracestate: "a=b", baggage: "secret=1", own: 1 };
    const call = { method: "tools/call", params: { name: "work", _meta } };
    const span = spanOf(call.params);
    const first = traced(call, span);
    expect(first.headers).toEqual({
      traceparent: expect.stringMatching(OURS) as string,
      tracestate: "a=b",
    });
    expect(first.call).toEqual({
      method: "tools/call",
      params: { name: "work", _meta: { own: 1, ...first.headers } },
    });
    expect(traced(call, span).headers?.traceparent).not.toBe(first.headers?.traceparent);
  });

  test("leaves the message of a client without a context as it is", ({ expect }) => {
    const call = { method: "tools/list", params: { _meta: { own: 1 } } };
    const span = spanOf(call.params);
    const sent = traced(call, span);
    expect(sent.call).toBe(call);
    expect(sent.headers?.traceparent).toContain(span.trace.traceId);
    expect(traced({ method: "tools/list" }, span).call).toEqual({ method: "tools/list" });
  });

  test("passes no malformed context on, and none with what the gateway asks itself", ({
    expect,
  }) => {
    const params = { _meta: { traceparent: "00-a-b-01", baggage: "secret=1" } };
    const call = { method: "tools/list", params };
    expect(traced(call, spanOf(params)).call).toEqual({ method: "tools/list", params: {} });
    expect(traced(call, undefined)).toEqual({
      ...{ call: { method: "tools/list", params: {} }, headers: undefined },
    });
  });
});
