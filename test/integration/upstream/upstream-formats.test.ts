/** The forms in which real servers answer: all are read, whatever the chunks they come in. */

import { describe, test } from "vitest";

import type { Json, Piece, Reaction } from "../../support/scripted-upstream-script.ts";
import { modernCall, Session } from "../client.ts";
import { type Message, messagesOf } from "../event-reader.ts";
import { ANSWER, event, EVENT_STREAM, JSON_TYPE, streamOf, Upstream } from "../upstream.ts";

const TEXT = "snow ☃ and 𝄞";
const GIVEN = {
  jsonrpc: "2.0",
  id: "{{id}}",
  result: { resultType: "complete", content: [{ type: "text", text: TEXT }] },
} as const;
const LOG = { method: "notifications/message", params: { level: "info", data: "working" } };
const LOG_LEVEL = { "io.modelcontextprotocol/logLevel": "debug" };

/** Every byte is a piece, so that characters are cut in two. */
function bytewise(text: string): Piece[] {
  return [...new TextEncoder().encode(text)].map((byte) => ({
    base64: btoa(String.fromCharCode(byte)),
  }));
}

function asJson(...pieces: Piece[]): Reaction {
  return { headers: JSON_TYPE, pieces };
}

/** A message as two `data` lines, cut where JSON takes a line break. */
function inTwoLines(message: Json): string {
  return `data: ${JSON.stringify(message).replace(',"result"', '\ndata: ,"result"')}\n\n`;
}

const FORMS: readonly { name: string; reaction: Reaction }[] = [
  { name: "one line of JSON", reaction: asJson(JSON.stringify(GIVEN)) },
  { name: "JSON over many lines", reaction: asJson(JSON.stringify(GIVEN, null, 2)) },
  {
    name: "JSON with a charset",
    reaction: {
      headers: { "Content-Type": "Application/JSON; charset=utf-8" },
      pieces: [JSON.stringify(GIVEN)],
    },
  },
  { name: "JSON after a byte order mark", reaction: asJson(`\uFEFF${JSON.stringify(GIVEN)}`) },
  { name: "JSON in an array", reaction: asJson(JSON.stringify([GIVEN])) },
  { name: "JSON lines", reaction: asJson(`${JSON.stringify(GIVEN)}\n`) },
  {
    name: "JSON lines with empty ones between",
    reaction: asJson("\n\r\n", `${JSON.stringify(GIVEN)}\r\n`, "\n"),
  },
  { name: "an event", reaction: streamOf(event(GIVEN)) },
  { name: "an event with a name", reaction: streamOf(`event: message\n${event(GIVEN)}`) },
  { name: "an event without a space", reaction: streamOf(`data:${JSON.stringify(GIVEN)}\n\n`) },
  { name: "an event of CRLF lines", reaction: streamOf(event(GIVEN).replaceAll("\n", "\r\n")) },
  { name: "an event of CR lines", reaction: streamOf(event(GIVEN).replaceAll("\n", "\r")) },
  { name: "an event of two data lines", reaction: streamOf(inTwoLines(GIVEN)) },
  { name: "an event after a byte order mark", reaction: streamOf(`\uFEFF${event(GIVEN)}`) },
  {
    name: "comments and unknown fields around",
    reaction: streamOf(": hello\n\nfoo: bar\n\n", event(GIVEN), ": bye\n\n"),
  },
  {
    name: "events of other names before",
    reaction: streamOf("event: heartbeat\ndata: ping\n\n", event(GIVEN)),
  },
  { name: "a priming event before", reaction: streamOf("id: 1\ndata: \n\n", event(GIVEN)) },
  {
    name: "an answer to someone else before",
    reaction: streamOf(event({ ...ANSWER, id: "not-yours" }), event(GIVEN)),
  },
  {
    name: "the answer twice",
    reaction: streamOf(event(GIVEN), event({ ...ANSWER, result: { content: [] } })),
  },
  {
    name: "the answer and a stream that stays open",
    reaction: { ...streamOf(event(GIVEN)), end: "never" },
  },
  {
    name: "the answer and a JSON body that stays open",
    reaction: { ...asJson(`${JSON.stringify(GIVEN)}\n`), end: "never" },
  },
  { name: "the answer and a reset", reaction: { ...streamOf(event(GIVEN)), end: "reset" } },
];

function answersIn(messages: readonly Message[]): unknown {
  return messages
    .filter(({ method }) => method === undefined)
    .map(({ id, result }) => ({ id, content: result?.["content"] }));
}

const EXPECTED = [{ id: "mine", content: GIVEN.result.content }];

describe("a legacy client gets the answer that came as", () => {
  test.for(FORMS)("$name", async ({ reaction }, { expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const session = await Session.open(upstream.mcp);
    const messages = await messagesOf(await session.callTool("work", {}, "mine"));
    expect(answersIn(messages)).toEqual(EXPECTED);
  });
});

describe("a modern client gets the answer that came as", () => {
  test.for(FORMS)("$name", async ({ reaction }, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [reaction] },
    });
    const messages = await messagesOf(await modernCall(upstream, { id: "mine" }));
    expect(answersIn(messages)).toEqual(EXPECTED);
  });
});

describe("messages before the answer are passed on in order as", () => {
  const lines = [LOG, LOG, GIVEN].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));
  const events = [event(LOG), event(LOG), event(GIVEN)];
  const SEQUENCES: readonly { name: string; reaction: Reaction }[] = [
    { name: "events", reaction: streamOf(...events) },
    {
      name: "events, byte by byte",
      reaction: streamOf(...bytewise(event(LOG)), event(LOG), event(GIVEN)),
    },
    { name: "events in one chunk", reaction: streamOf(events.join("")) },
    { name: "JSON lines", reaction: asJson(`${lines.join("\n")}\n`) },
    { name: "JSON lines, the last without its end", reaction: asJson(lines.join("\n")) },
    {
      name: "JSON lines cut anywhere",
      reaction: asJson(
        ...bytewise(`${lines[0]}\n`),
        `${lines[1]}\n${lines[2]?.slice(0, 9)}`,
        `${lines[2]?.slice(9)}\n`,
      ),
    },
    { name: "an array of JSON", reaction: asJson(`[${lines.join(",")}]`) },
  ];

  test.for(SEQUENCES)("$name", async ({ reaction }, { expect }) => {
    const legacy = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const session = await Session.open(legacy.mcp);
    const response = await session.callTool("work", {}, "mine");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const [first, second, ...rest] = await messagesOf(response);
    expect(first).toMatchObject(LOG);
    expect(second).toMatchObject(LOG);
    expect(answersIn(rest)).toEqual(EXPECTED);

    const modern = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [reaction] },
    });
    const relayed = await messagesOf(await modernCall(modern, { id: "mine", meta: LOG_LEVEL }));
    expect(relayed.slice(0, 2)).toMatchObject([LOG, LOG]);
    expect(answersIn(relayed.slice(2))).toEqual(EXPECTED);
  });
});

test("a broken character becomes U+FFFD, and nothing else is lost", async ({ expect }) => {
  const [before = "", after = ""] = JSON.stringify(GIVEN).split("☃");
  const broken = { base64: btoa("\xe2\x98") };
  for (const reaction of [
    asJson(before, broken, after),
    { headers: EVENT_STREAM, pieces: [`data: ${before}`, broken, `${after}\n\n`] },
  ]) {
    const upstream = await Upstream.take({
      server: "dual",
      reactions: { "tools/call": [reaction, reaction] },
    });
    const session = await Session.open(upstream.mcp);
    for (const response of [await session.callTool(), await modernCall(upstream)]) {
      const text = JSON.stringify(await messagesOf(response));
      expect(text).toContain("snow \uFFFD and 𝄞");
    }
  }
});

test("an error of the upstream passes unchanged", async ({ expect }) => {
  const error = { code: -32602, message: "Unknown tool: work", data: { hint: ["try", "harder"] } };
  for (const status of [200, 400, 422]) {
    const reaction = asJson(JSON.stringify({ jsonrpc: "2.0", id: "{{id}}", error }));
    const upstream = await Upstream.take({
      server: "dual",
      reactions: {
        "tools/call": [
          { ...reaction, status },
          { ...reaction, status },
        ],
      },
    });
    const session = await Session.open(upstream.mcp);
    // What a modern server refuses at the door with 400 is 400 for its client as well.
    for (const [response, expected] of [
      [await session.callTool("work", {}, 0), 200],
      [await modernCall(upstream, { id: 0 }), status === 400 ? 400 : 200],
    ] as const) {
      expect(response.status).toBe(expected);
      expect(await messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: 0, error }]);
    }
    expect(await upstream.sent("tools/call")).toHaveLength(2);
  }
});

test("an error without an id belongs to the request whose answer it is", async ({ expect }) => {
  const error = { code: -32603, message: "Lost my notes" };
  const body = JSON.stringify({ jsonrpc: "2.0", error });
  for (const reaction of [asJson(body), streamOf(`data: ${body}\n\n`)]) {
    const upstream = await Upstream.take({
      server: "dual",
      reactions: { "tools/call": [reaction, reaction] },
    });
    const session = await Session.open(upstream.mcp);
    for (const response of [
      await session.callTool("work", {}, 0),
      await modernCall(upstream, { id: 0 }),
    ]) {
      expect(await messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: 0, error }]);
    }
  }
});
