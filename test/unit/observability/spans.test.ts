/** The spans of a call: names and attributes by the conventions, and nothing of what was said. */

import { describe, test } from "vitest";

import type { CallOutcome, CallRecord } from "../../../src/observability/call-record.ts";
import { inClientSpan, inServerSpan } from "../../../src/observability/spans.ts";
import { type CallSpan, startSpan } from "../../../src/protocol/call-span.ts";
import { errorReply, type Reply } from "../../../src/protocol/json-rpc.ts";
import type { Tracer } from "../../../src/protocol/tracer.ts";

const MARKER = "what was said";
const NATIVE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";
const PLACE = { slug: "s", endpoint: new URL("https://mcp.example:8443/secret-path?key=1") };
const CALL = { method: "tools/call", params: { name: "work", arguments: { text: MARKER } } };
const RECORD: CallRecord = {
  ...{ at: 1000, principal: "ann.app", person: "ann", client: "app", clientName: "A client" },
  ...{ clientEra: "modern", serverEra: "legacy", server: "s", method: "tools/call", name: "work" },
  ...{ effect: "read", outcome: "ok", ms: 20, upstreamMs: 15, requestBytes: 2, resultBytes: 3 },
  traceId: NATIVE,
};

interface Seen {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
}

/** A platform that records the spans of this request. */
function traced(ids = { traceId: NATIVE, spanId: SPAN_ID }): { span: CallSpan; seen: Seen[] } {
  const seen: Seen[] = [];
  const tracer: Tracer = {
    traceId: ids.traceId,
    enterSpan(name, run) {
      const attributes: Record<string, unknown> = {};
      seen.push({ name, attributes });
      return run({
        setAttribute: (key, value) => (attributes[key] = value),
        spanContext: () => ids,
      });
    },
  };
  const request = { params: CALL.params, trace: undefined, era: "modern", tracer } as const;
  return { span: startSpan({ ...request, clientInfo: undefined }), seen };
}

async function serverSpan(
  record: Partial<CallRecord>,
  tool: string | null = "work",
): Promise<Seen | undefined> {
  const { span, seen } = traced();
  const { method } = { ...RECORD, ...record };
  await inServerSpan(span, { method, tool: () => tool ?? undefined }, async (end) => {
    end({ ...RECORD, ...record });
    return Promise.resolve();
  });
  return seen[0];
}

describe("the span of a client's request", () => {
  test("has the names of the conventions", async ({ expect }) => {
    expect(await serverSpan({})).toEqual({
      name: "tools/call work",
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "work",
        "network.transport": "tcp",
        "enduser.pseudo.id": "ann",
        "edgeway.server": "s",
        "edgeway.outcome": "ok",
        "edgeway.era.down": "modern",
        "edgeway.era.up": "legacy",
        "edgeway.effect": "read",
        "edgeway.trace_id": NATIVE,
      },
    });
  });

  test.for<{ readonly outcome: CallOutcome; readonly type: string; readonly status?: string }>([
    { outcome: "tool_error", type: "tool_error" },
    { outcome: "error:-32602", type: "-32602", status: "-32602" },
    { outcome: "refused:rate", type: "refused_rate" },
    { outcome: "cancelled", type: "cancelled" },
  ])("T7: says what failed: $outcome", async ({ outcome, type, status }, { expect }) => {
    const seen = await serverSpan({ outcome });
    expect(seen?.attributes).toMatchObject({ "error.type": type });
    expect(seen?.attributes["rpc.response.status_code"]).toBe(status);
  });

  test("T8: has no tool that a client made up", async ({ expect }) => {
    expect(await serverSpan({ name: "made up", effect: undefined }, null)).toMatchObject({
      ...{ name: "tools/call", attributes: { "gen_ai.tool.name": "_other" } },
    });
  });

  test("names a prompt and a resource in attributes alone", async ({ expect }) => {
    const uri = await serverSpan({ method: "resources/read", name: "a://b" }, null);
    expect(uri).toMatchObject({
      ...{ name: "resources/read", attributes: { "mcp.resource.uri": "a://b" } },
    });
    const prompt = await serverSpan({ method: "prompts/get", name: "greet" }, null);
    expect(prompt?.attributes).toMatchObject({ "gen_ai.prompt.name": "greet" });
  });
});

/** @returns the spans of a call, and the parents that its server was given. */
async function clientSpan(reply: () => Promise<Reply>): Promise<readonly [Seen[], unknown[]]> {
  const { span, seen } = traced();
  const parents: unknown[] = [];
  await inServerSpan(span, { method: CALL.method, tool: () => "work" }, () =>
    inClientSpan(
      span,
      PLACE,
      CALL,
      (spanId) => {
        parents.push(spanId);
        return reply();
      },
      (answer) => answer,
    ),
  ).catch(() => undefined);
  return [seen, parents];
}

describe("the span of a request to a server", () => {
  test("has the server's address, and is the parent of what the server does", async ({
    expect,
  }) => {
    const text = { result: { content: [{ type: "text", text: MARKER }] } };
    const [seen, parents] = await clientSpan(() => Promise.resolve(text));
    expect(seen[1]).toEqual({
      name: "tools/call work",
      attributes: {
        "mcp.method.name": "tools/call",
        "edgeway.server": "s",
        "network.transport": "tcp",
        "server.address": "mcp.example",
        "server.port": 8443,
        "edgeway.trace_id": NATIVE,
      },
    });
    expect(parents).toEqual([SPAN_ID]);
    expect(JSON.stringify(seen)).not.toContain(MARKER);
    expect(JSON.stringify(seen)).not.toContain("secret-path");
  });

  test.for<{ readonly name: string; readonly reply: () => Promise<Reply>; readonly type: string }>([
    {
      name: "a tool that failed",
      reply: () => Promise.resolve({ result: { isError: true } }),
      type: "tool_error",
    },
    { name: "an error", reply: () => Promise.resolve(errorReply(-32602, MARKER)), type: "-32602" },
    { name: "no answer", reply: () => Promise.reject(new TypeError(MARKER)), type: "TypeError" },
  ])("says what failed: $name", async ({ reply, type }, { expect }) => {
    const [seen] = await clientSpan(reply);
    expect(seen[1]?.attributes).toMatchObject({ "error.type": type });
    expect(JSON.stringify(seen)).not.toContain(MARKER);
  });
});

describe("a trace that begins here", () => {
  test("is the platform's own, where the platform tells its id", ({ expect }) => {
    expect(traced().span.trace.traceId).toBe(NATIVE);
  });

  test("has no span where the platform records none", async ({ expect }) => {
    const request = { params: undefined, trace: undefined, era: "legacy" } as const;
    const span = startSpan({ ...request, clientInfo: undefined });
    const tool = (): string => expect.fail("no name is asked for");
    expect(await inServerSpan(span, { method: "ping", tool }, () => Promise.resolve(1))).toBe(1);
    const reply: Reply = { result: {} };
    const spanIds: unknown[] = [];
    const sent = inClientSpan(
      span,
      PLACE,
      CALL,
      (spanId) => {
        spanIds.push(spanId);
        return Promise.resolve(reply);
      },
      (answer) => answer,
    );
    expect(await sent).toBe(reply);
    expect(spanIds).toEqual([undefined]);
  });
});
