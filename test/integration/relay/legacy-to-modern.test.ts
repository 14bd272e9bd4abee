/** A legacy client's calls at a real modern server: what comes while they run, and how they end. */

import { describe, inject, test } from "vitest";

import type { ServerInSession } from "../../../src/relay/server-in-session.ts";
import type { ToolFactsOf } from "../../../src/catalog/cache/tool-facts.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { AskedPeer } from "../../unit/protocol/revisions/asked-peer.ts";
import { serverInSession } from "../../unit/relay/session-server-fixture.ts";
import { failureOf } from "../../unit/upstream/fake-target.ts";
import { until } from "../bounded.ts";
import {
  event,
  jsonOf,
  LOG,
  MODERN_ANSWER,
  progress,
  RESULT,
  streamOf,
  Upstream,
} from "../upstream.ts";

const never = new AbortController().signal;
const CALL = {
  method: "tools/call",
  params: { name: "work", arguments: { n: 1 }, _meta: { progressToken: "mine" } },
};
const ELICIT = {
  method: "elicitation/create",
  params: { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } },
};

async function begin(
  reactions: readonly Reaction[],
  toolFacts: ToolFactsOf = () => Promise.resolve(undefined),
): Promise<{ upstream: Upstream; server: ServerInSession }> {
  const upstream = await Upstream.take({
    server: "modern",
    reactions: { "tools/call": reactions },
  });
  const { slug } = upstream;
  const target: UpstreamTarget = {
    ...{ slug, endpoint: new URL(`${inject("scripted")}/u/${slug}`), headers: {} },
    ...{ transport: "auto", era: "auto", timeoutMs: 8000, maxMessageChars: 65_536 },
    fetch: (url, init) => fetch(url, init),
  };
  const server = serverInSession({
    target,
    toolFacts,
    saved: { era: "modern", logLevel: "debug" },
    client: {
      ...{ revision: "2025-06-18", capabilities: { elicitation: {} } },
      clientInfo: { name: "c", version: "1" },
    },
  });
  return { upstream, server };
}

/** Waits until it was sent so many calls, and one of them was cut off. */
async function isCutOff(upstream: Upstream, calls: number): Promise<boolean> {
  return until(async () => {
    const sent = await upstream.sent("tools/call");
    const isSo = sent.length === calls && sent.some((record) => record.isCutOff);
    return isSo ? true : undefined;
  }, "the upstream to see the gateway hang up");
}

test("the server's notifications arrive while it works", async ({ expect }) => {
  const { upstream, server } = await begin([
    streamOf(event(progress(1)), event(LOG), { gate: "go-on" }, event(MODERN_ANSWER)),
  ]);
  const peer = new AskedPeer();
  const reply = server.request(CALL, peer, never);
  await until(async () => (peer.notices.length === 2 ? true : undefined), "two notifications");
  expect(peer.notices.map(({ notice }) => notice)).toEqual([
    { method: "notifications/progress", params: { progressToken: "mine", progress: 1 } },
    LOG,
  ]);
  await upstream.open("go-on");
  expect(await reply).toEqual({ result: RESULT });
});

test("a call goes on in a second request, with the client's answer", async ({ expect }) => {
  const asked = {
    resultType: "input_required",
    inputRequests: { q: ELICIT },
    requestState: " s\u0000",
  };
  const { upstream, server } = await begin([
    streamOf(event(LOG), event({ id: "{{id}}", result: asked })),
    jsonOf(MODERN_ANSWER),
  ]);
  const peer = new AskedPeer();
  const reply = server.request(CALL, peer, never);
  await until(async () => peer.questions[0], "the question");
  // Nothing is held open there while a person decides.
  const [first] = await upstream.sent("tools/call");
  expect(first).toMatchObject({ status: 200, isCutOff: false });
  const answer = { action: "accept", content: { n: 1 } };
  peer.questions[0]?.answer({ result: answer });
  expect(await reply).toEqual({ result: RESULT });
  const { message, requestedSchema } = ELICIT.params;
  expect(peer.questions.map(({ call }) => call.params)).toEqual([{ message, requestedSchema }]);
  const sent = await upstream.sent("tools/call");
  expect(sent.map(({ body }) => body?.params)).toMatchObject([
    { name: "work" },
    { name: "work", inputResponses: { q: answer }, requestState: " s\u0000" },
  ]);
  expect(new Set(sent.map(({ body }) => body?.id)).size).toBe(2);
});

test("a call that is refused for its headers is sent once more, with corrected ones", async ({
  expect,
}) => {
  const refusal = jsonOf({ error: { code: -32020, message: "Header mismatch" } }, 400);
  const { upstream, server } = await begin([refusal], (_name, isDoubted) =>
    Promise.resolve({ bindings: isDoubted ? [{ header: "mcp-param-n", path: ["n"] }] : [] }),
  );
  expect(await server.request(CALL, new AskedPeer(), never)).toMatchObject({
    result: { content: [{ text: "ran work" }] },
  });
  const sent = await upstream.sent("tools/call");
  expect(sent.map(({ headers }) => headers["mcp-param-n"])).toEqual([undefined, "1"]);
});

describe("a cancelled call is closed at the server", () => {
  const WHY = new Error("The client cancelled the request");

  test.for([
    { name: "before its first word", reaction: { heldBy: "never" } },
    { name: "in mid-stream", reaction: streamOf(event(LOG), { gate: "never" }) },
  ])("$name", async ({ reaction }, { expect }) => {
    const { upstream, server } = await begin([reaction]);
    const cancel = new AbortController();
    const peer = new AskedPeer();
    const failed = failureOf(server.request(CALL, peer, cancel.signal));
    await upstream.receives("tools/call");
    cancel.abort(WHY);
    expect(await failed).toBe(WHY);
    expect(await isCutOff(upstream, 1)).toBe(true);
    // No client says anything more in this era (cancellation).
    expect(await upstream.sent("notifications/cancelled")).toEqual([]);
  });

  test("in its second round", async ({ expect }) => {
    const asked = { resultType: "input_required", inputRequests: { q: ELICIT } };
    const { upstream, server } = await begin([
      jsonOf({ result: asked }),
      streamOf(event(LOG), { gate: "never" }),
    ]);
    const cancel = new AbortController();
    const peer = new AskedPeer(({ answer }) => answer({ result: { action: "decline" } }));
    const failed = failureOf(server.request(CALL, peer, cancel.signal));
    await upstream.receives("tools/call", 2);
    cancel.abort(WHY);
    expect(await failed).toBe(WHY);
    expect(await isCutOff(upstream, 2)).toBe(true);
  });
});

test("a server that breaks the connection is not called again", async ({ expect }) => {
  const { upstream, server } = await begin([{ ...streamOf(event(LOG)), end: "reset" }]);
  expect(await server.request(CALL, new AskedPeer(), never)).toMatchObject({
    error: { code: -32603, data: { upstream: upstream.slug, reason: "lost" } },
  });
  expect(await upstream.sent("tools/call")).toHaveLength(1);
});
