/** An upstream of HTTP+SSE: found out by itself, repaired when its stream breaks, never doubled. */

import { describe, test } from "vitest";

import type { Reaction, Recorded } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES } from "../asking.ts";
import { initializeMessage, post, Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { ANSWER, event, EVENT_STREAM, progress, streamOf, Upstream } from "../upstream.ts";

/** The requests, without what differs from session to session. */
function lines(records: readonly Recorded[]): string[] {
  return records.map(({ method, path }) => `${method} ${path.replace(/\?.*/, "")}`);
}

/** The methods of the requests that went to the endpoint itself. */
async function roots(upstream: Upstream): Promise<string[]> {
  const log = await upstream.log();
  return log.filter(({ path }) => !path.includes("message")).map(({ method }) => method);
}

describe("HTTP+SSE is detected when POST is refused with", () => {
  test.for([400, 404, 405])("%s", async (status, { expect }) => {
    const upstream = await Upstream.take({
      server: "sse",
      reactions: { initialize: [{ status }] },
    });
    const session = await Session.open(upstream.mcp);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    expect(lines(await upstream.used())).toEqual([
      `GET /u/${upstream.slug}`,
      ...Array.from({ length: 3 }, () => `POST /u/${upstream.slug}/message`),
    ]);
    // It is found out once, by the handshake before it.
    expect(lines(await upstream.log()).slice(0, 2)).toEqual([
      `POST /u/${upstream.slug}`,
      `GET /u/${upstream.slug}`,
    ]);
    expect(lines(await upstream.log()).filter((line) => line.endsWith(upstream.slug))).toHaveLength(
      3,
    );
  });
});

test("a server that is configured as HTTP+SSE gets no POST, and later sessions reuse a detected transport", async ({
  expect,
}) => {
  const configured = await Upstream.take({ server: "sse" }, "sse");
  await Session.inUse(configured.mcp);
  // The first of each introduces the server; the others are sessions.
  expect(await roots(configured)).toEqual(["GET", "GET"]);
  const found = await Upstream.take({ server: "sse" });
  await Session.inUse(found.mcp);
  await Session.inUse(found.mcp);
  expect(await roots(found)).toEqual(["POST", "GET", "GET", "GET"]);
});

test("calls, progress, questions and notifications reach their receivers", async ({ expect }) => {
  const upstream = await Upstream.take({
    server: "sse",
    reactions: {
      "tools/call": [
        {
          pieces: [
            event(progress(1)),
            event({ id: 4, method: "ping" }),
            { gate: "go-on" },
            event(ANSWER),
          ],
          end: "never",
        },
      ],
    },
  });
  const session = await Session.open(upstream.mcp);
  const standing = await session.listen();
  const response = await session.callTool("work", { _meta: { progressToken: 0 } }, "mine");
  const call = new EventReader(response);
  expect(await call.message()).toMatchObject({ params: { progressToken: 0, progress: 1 } });
  await upstream.receivesAnswer(4);
  await upstream.send({ method: "notifications/tools/list_changed" });
  expect(await standing.message()).toMatchObject({ method: "notifications/tools/list_changed" });
  await upstream.open("go-on");
  expect(await call.message()).toMatchObject({ id: "mine" });
  await standing.cancel();
});

const asking = () =>
  Upstream.take({
    server: "sse",
    reactions: {
      "tools/call": [
        {
          pieces: [event({ id: 7, method: "roots/list" }), { gate: "go-on" }, event(ANSWER)],
          end: "never",
        },
      ],
    },
  });

/** Over HTTP+SSE, a question does not say of which call it is. */
describe("a question in mid-call", () => {
  const ANSWERED = { roots: [{ uri: "file:///a" }] };

  test("goes out on the call's stream, where its client has no other one", async ({ expect }) => {
    const upstream = await asking();
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const call = new EventReader(await session.callTool("work", {}, "mine"));
    const ask = await call.message();
    expect(ask).toMatchObject({ method: "roots/list" });
    await session.answer(ask.id, { result: ANSWERED });
    expect(await upstream.receivesAnswer(7)).toMatchObject({ result: ANSWERED });
    await upstream.open("go-on");
    expect(await call.message()).toMatchObject({ id: "mine" });
  });

  test("goes out on the standalone stream, where its client has one", async ({ expect }) => {
    const upstream = await asking();
    const session = await Session.open(upstream.mcp, { capabilities: CAPABILITIES });
    const standing = await session.listen();
    const called = session.callTool("work", {}, "mine");
    const ask = await standing.message();
    expect(ask).toMatchObject({ method: "roots/list" });
    await session.answer(ask.id, { result: ANSWERED });
    await upstream.receivesAnswer(7);
    await upstream.open("go-on");
    expect(await responseIn(await called)).toMatchObject({ id: "mine" });
    await standing.cancel();
  });
});

test("a stream that breaks during a call causes one error, and the next call opens it again", async ({
  expect,
}) => {
  const upstream = await Upstream.take({
    server: "sse",
    reactions: { "tools/call": [{ pieces: [event(progress(1))], end: "reset" }] },
  });
  const session = await Session.open(upstream.mcp);
  await responseIn(await session.request("logging/setLevel", { level: "info" }));
  const message = await responseIn(await session.callTool("work", { _meta: { progressToken: 1 } }));
  expect(message.error?.data).toEqual({ upstream: upstream.slug, reason: "lost" });
  expect(await upstream.sent("tools/call")).toHaveLength(1);
  expect(await responseIn(await session.callTool("next"))).toHaveProperty("result");
  expect(await upstream.sent("tools/call")).toHaveLength(2);
  expect(await upstream.sent("logging/setLevel")).toHaveLength(2);
});

test("a stream that breaks between calls is opened again by the next", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "sse" });
  const session = await Session.inUse(upstream.mcp);
  await upstream.hangUp();
  expect(await responseIn(await session.callTool())).toHaveProperty("result");
  const calls = await upstream.sent("tools/call");
  expect(calls.filter(({ status }) => status === 202)).toHaveLength(1);
});

test("a stream that breaks while the client listens is opened again without a call", async ({
  expect,
}) => {
  const upstream = await Upstream.take({ server: "sse" });
  const session = await Session.inUse(upstream.mcp);
  const standing = await session.listen();
  await upstream.hangUp();
  await upstream.receives("notifications/initialized", 2);
  await upstream.send({ method: "notifications/tools/list_changed" });
  expect(await standing.message()).toMatchObject({ method: "notifications/tools/list_changed" });
  await standing.cancel();
});

test("a forgotten session is opened again, and the call accepted once", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "sse" });
  const session = await Session.inUse(upstream.mcp);
  await upstream.forget();
  expect(await responseIn(await session.callTool())).toHaveProperty("result");
  expect((await upstream.sent("tools/call")).map(({ status }) => status)).toEqual([404, 202]);
});

describe("initialize fails in one clear error when the stream", () => {
  const BAD: readonly { name: string; reaction: Reaction; reason: string }[] = [
    {
      name: "names an endpoint of another origin",
      reaction: {
        ...streamOf("event: endpoint\ndata: http://127.0.0.1:1/steal\n\n"),
        end: "never",
      },
      reason: "malformed",
    },
    {
      name: "names no URL",
      reaction: { ...streamOf("event: endpoint\ndata: http://[\n\n"), end: "never" },
      reason: "malformed",
    },
    { name: "ends without an endpoint", reaction: streamOf(": hello\n\n"), reason: "malformed" },
    {
      name: "is no stream",
      reaction: { headers: { "Content-Type": "text/html" }, pieces: ["<h1>"] },
      reason: "malformed",
    },
    { name: "is refused with 401", reaction: { status: 401 }, reason: "unauthorized" },
    { name: "is refused with 503", reaction: { status: 503 }, reason: "unreachable" },
    { name: "is refused with 404", reaction: { status: 404 }, reason: "malformed" },
    {
      name: "is reset",
      reaction: { headers: EVENT_STREAM, pieces: [": hello\n\n"], end: "reset" },
      reason: "lost",
    },
  ];

  test.for(BAD)("$name", async ({ reaction, reason }, { expect }) => {
    const upstream = await Upstream.take({ server: "sse", reactions: { GET: [reaction] } }, "sse");
    const { error } = await responseIn(await post(upstream.mcp, initializeMessage()));
    expect(error?.message).toContain(`"${upstream.slug}"`);
    expect(error?.data).toMatchObject({ upstream: upstream.slug, reason });
    expect(await upstream.sent("initialize")).toHaveLength(0);
    await Session.open(upstream.mcp);
  });
});

describe("garbage on the stream", () => {
  test.for([
    { name: "invalid JSON", text: "data: {\n\n" },
    { name: "no JSON-RPC", text: 'data: {"hello":1}\n\n' },
  ])(
    "ends the calls that run in one error each, and the next works: $name",
    async ({ text }, { expect }) => {
      const upstream = await Upstream.take({
        server: "sse",
        reactions: {
          "tools/call": [
            { pieces: [{ gate: "both" }, text], end: "never" },
            { pieces: [], end: "never" },
          ],
        },
      });
      const session = await Session.open(upstream.mcp);
      const pending = [session.callTool("a"), session.callTool("b")];
      await upstream.receives("tools/call", 2);
      await upstream.open("both");
      for (const response of await Promise.all(pending)) {
        const { error } = await responseIn(response);
        expect(error?.data).toMatchObject({ upstream: upstream.slug });
      }
      expect(await responseIn(await session.callTool())).toHaveProperty("result");
      expect(await upstream.sent("tools/call")).toHaveLength(3);
    },
  );
});

test("DELETE closes the upstream's stream", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "sse" });
  const session = await Session.open(upstream.mcp);
  expect(await messagesOf(await session.callTool())).toHaveLength(1);
  await (await session.delete()).text();
  await expect
    .poll(async () => (await upstream.used()).find(({ method }) => method === "GET")?.isCutOff)
    .toBe(true);
});
