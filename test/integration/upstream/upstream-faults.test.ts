/**
 * What an upstream can do wrong. Each fault ends one call in one clear error that names the slug;
 * nothing else notices, nothing of the upstream's words leaks, and no call is sent twice.
 */

import { describe, test } from "vitest";

import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { modernCall, Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { event, EVENT_STREAM, JSON_TYPE, jsonOf, RESULT, streamOf, Upstream } from "../upstream.ts";

// In lower case, since content types are read so.
const SECRET = "secret-words-of-the-upstream";
const HTML = { "Content-Type": "text/html" };
const HUGE = "x".repeat(70_000);

interface Fault {
  readonly name: string;
  readonly reaction: Reaction;
  readonly reason: string;
}

const FAULTS: readonly Fault[] = [
  {
    name: "garbage under application/json",
    reaction: { headers: JSON_TYPE, pieces: [`{"jsonrpc": ${SECRET}`] },
    reason: "malformed",
  },
  {
    name: "garbage in an event",
    reaction: streamOf(`data: {${SECRET}\n\n`),
    reason: "malformed",
  },
  {
    name: "JSON that is not JSON-RPC",
    reaction: { headers: JSON_TYPE, pieces: [JSON.stringify({ hello: SECRET })] },
    reason: "malformed",
  },
  {
    name: "a result that is not an object",
    reaction: jsonOf({ result: SECRET }),
    reason: "malformed",
  },
  {
    name: "neither a result nor an error",
    reaction: jsonOf({}),
    reason: "malformed",
  },
  {
    name: "HTML with 200",
    reaction: { headers: HTML, pieces: [`<h1>${SECRET}</h1>`] },
    reason: "malformed",
  },
  {
    name: "an unknown content type",
    reaction: { headers: { "Content-Type": `application/${SECRET}` }, pieces: ["{}"] },
    reason: "malformed",
  },
  { name: "no content type", reaction: { pieces: [SECRET] }, reason: "malformed" },
  { name: "an empty body", reaction: { headers: JSON_TYPE }, reason: "lost" },
  { name: "202 to a request", reaction: { status: 202 }, reason: "malformed" },
  { name: "204 to a request", reaction: { status: 204 }, reason: "lost" },
  {
    name: "a stream that closes at once",
    reaction: streamOf(),
    reason: "lost",
  },
  {
    name: "a stream that closes before the answer, without event ids",
    reaction: streamOf(": hello\n\n", "retry: 10\n\n"),
    reason: "lost",
  },
  {
    name: "a stream cut in mid-event",
    reaction: streamOf('data: {"jsonrpc":"2.0",'),
    reason: "lost",
  },
  {
    name: "a connection reset in mid-stream",
    reaction: { headers: EVENT_STREAM, pieces: [": hello\n\n"], end: "reset" },
    reason: "lost",
  },
  {
    name: "a connection reset in mid-JSON",
    reaction: { headers: JSON_TYPE, pieces: ['{"jsonrpc":"2.0"'], end: "reset" },
    reason: "lost",
  },
  {
    name: "a connection dropped without a response",
    reaction: { status: 0 },
    reason: "unreachable",
  },
  {
    name: "400 with HTML",
    reaction: { status: 400, headers: HTML, pieces: [SECRET] },
    reason: "malformed",
  },
  {
    name: "401",
    reaction: { status: 401, headers: { "WWW-Authenticate": `Bearer realm="${SECRET}"` } },
    reason: "unauthorized",
  },
  { name: "403", reaction: { status: 403, pieces: [SECRET] }, reason: "unauthorized" },
  { name: "408", reaction: { status: 408, pieces: [SECRET] }, reason: "unreachable" },
  { name: "429", reaction: { status: 429, pieces: [SECRET] }, reason: "overloaded" },
  {
    name: "500 with HTML",
    reaction: { status: 500, headers: HTML, pieces: [SECRET] },
    reason: "unreachable",
  },
  {
    name: "500 with a JSON-RPC error",
    reaction: jsonOf({ error: { code: -32603, message: SECRET } }, 500),
    reason: "unreachable",
  },
  { name: "503", reaction: { status: 503 }, reason: "unreachable" },
  {
    name: "a redirect",
    reaction: { status: 302, headers: { Location: `https://${SECRET}.example.com/` } },
    reason: "malformed",
  },
  {
    name: "a redirect that keeps the method",
    reaction: { status: 307, headers: { Location: "/u/elsewhere" } },
    reason: "malformed",
  },
  {
    name: "a huge JSON message",
    reaction: jsonOf({ result: { content: [], padding: HUGE } }),
    reason: "malformed",
  },
  {
    name: "a huge event",
    reaction: streamOf(event({ id: "{{id}}", result: { content: [], padding: HUGE } })),
    reason: "malformed",
  },
  {
    name: "an event that never ends",
    reaction: { headers: EVENT_STREAM, pieces: ["data: ", HUGE], end: "never" },
    reason: "malformed",
  },
  {
    name: "a line that never ends",
    reaction: { headers: JSON_TYPE, pieces: [`{"a":"`, HUGE], end: "never" },
    reason: "malformed",
  },
  {
    name: "an answer to another id as JSON",
    reaction: { headers: JSON_TYPE, pieces: ['{"jsonrpc":"2.0","id":"not-yours","result":{}}'] },
    reason: "lost",
  },
  {
    name: "an answer to another id on a stream",
    reaction: streamOf(event({ id: "not-yours", result: RESULT })),
    reason: "lost",
  },
];

function textOf(message: Message): unknown {
  return (message.result?.["content"] as { text: string }[] | undefined)?.[0]?.text;
}

describe("a legacy upstream gives", () => {
  test.for(FAULTS)("$name", async ({ reaction, reason }, { expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [reaction] },
    });
    const session = await Session.open(upstream.mcp);

    const message = await responseIn(await session.callTool("work", {}, "mine"));
    expect(message).toMatchObject({
      id: "mine",
      error: { code: -32603, data: { upstream: upstream.slug, reason } },
    });
    expect(message.error?.message).toContain(`"${upstream.slug}"`);
    expect(JSON.stringify(message)).not.toContain(SECRET);
    expect(await upstream.sent("tools/call")).toHaveLength(1);

    const next = await responseIn(await session.callTool("next"));
    expect(textOf(next)).toBe("ran next");
    expect(await upstream.sessions()).toHaveLength(1);
  });
});

describe("a modern upstream gives", () => {
  test.for(FAULTS)("$name", async ({ reaction, reason }, { expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [reaction] },
    });
    const response = await modernCall(upstream, { id: "mine" });
    expect(response.status).toBe(200);
    const message = await responseIn(response);
    expect(message).toMatchObject({
      id: "mine",
      error: { code: -32603, data: { upstream: upstream.slug, reason } },
    });
    expect(message.error?.message).toContain(`"${upstream.slug}"`);
    expect(JSON.stringify(message)).not.toContain(SECRET);
    expect(await upstream.sent("tools/call")).toHaveLength(1);

    const next = await responseIn(await modernCall(upstream));
    expect(textOf(next)).toBe("ran work");
  });
});
