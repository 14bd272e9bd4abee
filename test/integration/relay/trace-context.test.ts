/** A trace from the client to its servers: in `_meta` and in headers, in all four pairings of eras. */

import { describe, test } from "vitest";

import type { Json, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import { modern, modernCall, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { always, MERGED } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { SseSession } from "../sse-client.ts";
import { jsonOf, Upstream } from "../upstream.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const PARENT = `00-${TRACE}-${SPAN}-01`;
const OTHER = `00-${"f".repeat(32)}-${SPAN}-00`;
const SERVERS = ["modern", "legacy", "sse"] as const;

interface Sent {
  readonly meta?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a tool in an era, and returns the request that its server got. */
async function call(
  era: "modern" | "legacy",
  server: Script["server"],
  { meta = {}, headers = {} }: Sent,
): Promise<Recorded> {
  const upstream = await Upstream.take({ server });
  let answer: Response;
  if (era === "modern") answer = await modernCall(upstream, { meta, headers });
  else {
    const session = await Session.open(upstream.mcp);
    const _meta = Object.keys(meta).length === 0 ? {} : { _meta: meta };
    const params = { name: "work", arguments: {}, ..._meta };
    answer = await session.post({ id: 9, method: "tools/call", params }, headers);
  }
  const { error } = await responseIn(answer);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  const [record, ...others] = await upstream.sent("tools/call");
  if (record === undefined || others.length > 0) throw new Error("one call was to be sent");
  return record;
}

function metaIn({ body }: Recorded): Json {
  return (body?.params?.["_meta"] ?? {}) as Json;
}

describe.for(
  SERVERS.flatMap((server) => [["modern", server] as const, ["legacy", server] as const]),
)("a %s client at a %s server", ([era, server]) => {
  test.for<Sent & { readonly name: string }>([
    { name: "in _meta", meta: { traceparent: PARENT, tracestate: "a=b" } },
    { name: "in the headers", headers: { traceparent: PARENT, tracestate: "a=b" } },
    {
      name: "in both: that of _meta",
      meta: { traceparent: PARENT, tracestate: "a=b" },
      headers: { traceparent: OTHER, tracestate: "c=d" },
    },
  ])("T1, T2, T3: is followed by its context $name", async (sent, { expect }) => {
    const record = await call(era, server, sent);
    const { traceparent } = record.headers;
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
    expect(traceparent).not.toContain(SPAN);
    expect(record.headers).toMatchObject({ tracestate: "a=b" });
    expect(metaIn(record)).toMatchObject({ traceparent, tracestate: "a=b" });
  });

  test.for<Sent & { readonly name: string }>([
    { name: "no context" },
    { name: "a malformed one", meta: { traceparent: "00-a-b-01", tracestate: "a=b" } },
    { name: "one of zeros", headers: { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` } },
    { name: "one that is too long", headers: { traceparent: PARENT + "0".repeat(10_000) } },
  ])("T4: begins a trace with $name", async (sent, { expect }) => {
    const record = await call(era, server, sent);
    expect(record.headers["traceparent"]).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-01$/);
    expect(record.headers).not.toHaveProperty("tracestate");
    expect(metaIn(record)).not.toHaveProperty("traceparent");
    expect(metaIn(record)).not.toHaveProperty("tracestate");
  });

  test("T6: keeps its baggage to itself", async ({ expect }) => {
    const baggage = "user=SECRET";
    const record = await call(era, server, {
      ...{ meta: { traceparent: PARENT, baggage }, headers: { baggage } },
    });
    expect(JSON.stringify(record)).not.toContain("SECRET");
  });
});

describe("over HTTP+SSE", () => {
  test("the context of a POST is followed", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const client = await SseSession.open(upstream.sse);
    const params = { name: "work", arguments: {}, _meta: { traceparent: PARENT } };
    await client.request("tools/call", params);
    const [record] = await upstream.sent("tools/call");
    expect(record?.headers["traceparent"]).toContain(TRACE);
  });
});

describe("a resource that no server lists", () => {
  test("T5: is asked for in one trace, with a parent for each server", async ({ expect }) => {
    const script: Script = {
      server: "modern",
      capabilities: { resources: {} },
      reactions: {
        "resources/list": always({ resources: [] }),
        "resources/templates/list": always({ resourceTemplates: [] }),
        "resources/read": [
          { ...jsonOf({ error: { code: -32602, message: "No." } }), isLasting: true },
        ],
      },
    };
    const taken = await takeSeveral([{ script }, { script }]);
    const meta = { traceparent: PARENT };
    await responseIn(await modern(MERGED, "resources/read", { uri: "file:///hidden" }, { meta }));
    const reads = await Promise.all(taken.map((upstream) => upstream.sent("resources/read")));
    const parents = reads.flat().map(({ headers }) => headers["traceparent"] ?? "");
    expect(parents.map((parent) => parent.split("-")[1])).toEqual([TRACE, TRACE]);
    expect(new Set([SPAN, ...parents.map((parent) => parent.split("-")[2])]).size).toBe(3);
  });
});
