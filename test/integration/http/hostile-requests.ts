/** Generates requests that nobody in their right mind would send, mostly near to what is right. */

import * as fc from "fast-check";

import { envelope, initializeMessage, MODERN } from "../client.ts";

const METHODS = [
  "initialize",
  "ping",
  "tools/call",
  "tools/list",
  "server/discover",
  "resources/read",
  "subscriptions/listen",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/initialized",
  "logging/setLevel",
  "__proto__",
  "constructor",
  "",
  "tools/call\u0000",
  "☃",
];

const id = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    "",
    -1,
    1e308,
    2 ** 53,
    0.1,
    null,
    true,
    [],
    {},
    "x".repeat(5000),
    "\u0000",
    "\ud800",
    "__proto__",
  ),
  fc.string({ unit: "binary" }),
  fc.integer(),
);

const meta = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    [],
    "",
    envelope(),
    { progressToken: {} },
    { progressToken: 0 },
    { __proto__: { a: 1 } },
  ),
  fc.record(
    {
      "io.modelcontextprotocol/protocolVersion": fc.constantFrom<unknown>(
        MODERN,
        "2025-11-25",
        "9999-99-99",
        "",
        7,
        null,
      ),
      "io.modelcontextprotocol/clientCapabilities": fc.constantFrom<unknown>({}, [], null, "x", {
        sampling: 1,
      }),
      "io.modelcontextprotocol/clientInfo": fc.constantFrom<unknown>(
        { name: "x", version: "1" },
        {},
        1,
      ),
      "io.modelcontextprotocol/logLevel": fc.constantFrom<unknown>("debug", 1, "loud"),
      progressToken: id,
    },
    { requiredKeys: [] },
  ),
);

const params = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, [], "x", 1),
  fc.record(
    {
      _meta: meta,
      name: fc.oneof(fc.constantFrom<unknown>("work", 1, null, {}), fc.string({ unit: "binary" })),
      uri: fc.constantFrom<unknown>("file:///a", "", 1, "\r\nX: 1"),
      arguments: fc.jsonValue(),
      requestId: id,
      progressToken: id,
      notifications: fc.jsonValue(),
      protocolVersion: fc.constantFrom<unknown>("2025-11-25", MODERN, 1, "", null),
      capabilities: fc.jsonValue(),
      clientInfo: fc.jsonValue(),
      level: fc.constantFrom<unknown>("info", 1, {}),
    },
    { requiredKeys: [] },
  ),
);

const message = fc.record(
  {
    jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1.0", 2, null),
    id,
    method: fc.oneof(fc.constantFrom<unknown>(...METHODS, 1, null), fc.string({ unit: "binary" })),
    params,
    result: fc.jsonValue(),
    error: fc.oneof(fc.jsonValue(), fc.constant({ code: 1, message: "no" })),
  },
  { requiredKeys: ["jsonrpc"] },
);

const body = fc.oneof(
  { weight: 5, arbitrary: message.map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.array(message, { maxLength: 5 }).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.json() },
  {
    weight: 1,
    arbitrary: fc
      .tuple(message, fc.nat())
      .map(([value, at]) => JSON.stringify(value).slice(0, at % 200)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "\uFEFF{}",
      "[".repeat(60_000),
      '{"a":'.repeat(5000),
      `"${"x".repeat(70_000)}"`,
      JSON.stringify(initializeMessage()),
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/call"}',
      '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}',
      "NaN",
      "1e999999",
    ),
  },
);

/** What may stand in a header: visible ASCII, of any length. */
const text = fc.oneof(
  fc.constantFrom(
    "",
    "x".repeat(4000),
    "=?base64??=",
    "=?base64?AA==?=",
    "../../..",
    "0".repeat(64),
  ),
  fc.string({ unit: "grapheme-ascii" }).map((value) => value.trim()),
);

/** Mostly what is right, so that the rest of the request is looked at. */
function mostly<T>(right: T, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: wrong });
}

const usual = fc.record({
  Accept: mostly("application/json, text/event-stream", text),
  "Content-Type": mostly("application/json", text),
});

const unusual = fc.record(
  {
    "Mcp-Session-Id": mostly("LIVE", text),
    "MCP-Protocol-Version": fc.oneof(
      fc.constantFrom(MODERN, "2025-11-25", "2025-03-26", "9999-99-99"),
      text,
    ),
    "Mcp-Method": text,
    "Mcp-Name": text,
    "Mcp-Param-X": text,
    "Last-Event-ID": fc.oneof(
      fc.constantFrom("g00000000-1.0", "p00000000-1.0", "g00000000-999999999.999999999999999"),
      text,
    ),
    "Content-Length": mostly("0", fc.constantFrom("-1", "1e9", "x")),
    Origin: mostly("http://localhost:1", fc.constantFrom("https://evil.example.com", "null")),
    Range: fc.constant("bytes=0-1"),
    Expect: fc.constant("100-continue"),
    Upgrade: fc.constant("h2c"),
    "X-Forwarded-Host": mostly("localhost", text),
  },
  { requiredKeys: [] },
);

/** Modern requests whose headers agree with their body, however odd the rest of it is. */
const agreeing = fc
  .tuple(fc.constantFrom(...METHODS.filter((method) => /^[ -~]*$/.test(method))), params, id)
  .map(([method, given, id]) => {
    const params = { ...(typeof given === "object" ? given : {}), _meta: envelope() };
    const { name, uri } = params as { name?: unknown; uri?: unknown };
    const mirrored = [name, uri].find((value) => typeof value === "string" && PLAIN.test(value));
    return {
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
      headers: {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        ...(typeof mirrored === "string" ? { "Mcp-Name": mirrored } : {}),
      },
    };
  });

const PLAIN = /^[!-~]+$/;

const content = fc.oneof(
  { weight: 3, arbitrary: fc.record({ body, headers: unusual }) },
  { weight: 1, arbitrary: agreeing },
  // Of the session that is open.
  { weight: 1, arbitrary: body.map((body) => ({ body, headers: { "Mcp-Session-Id": "LIVE" } })) },
);

/** One request. `LIVE` stands for the id of a session that is open, `SLUG` for the server's. */
export const hostile = fc
  .record({
    // Mostly where there is something to break.
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant("POST") },
      { weight: 2, arbitrary: fc.constantFrom("GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH") },
    ),
    path: fc.oneof(
      { weight: 6, arbitrary: fc.constant("/mcp") },
      { weight: 2, arbitrary: fc.constant("/sse/message?sessionId=LIVE") },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          "/mcp/SLUG",
          "/sse",
          "/sse/message",
          "/sse/message?sessionId=LIVE&sessionId=x",
          "/sse/message?sessionId=%00",
          "/sse/SLUG/message",
          "/mcp/%2e%2e",
          "/mcp//",
        ),
      },
    ),
    usual,
    content,
  })
  .map(({ method, path, usual, content }) => ({
    method,
    path,
    headers: { ...usual, ...content.headers } as Readonly<Record<string, string>>,
    body: content.body,
  }));

export type Hostile = typeof hostile extends fc.Arbitrary<infer T> ? T : never;
