/** Log messages of servers: what the client asked for, all of it, in order, and nothing else. */

import { describe, vi } from "vitest";

import { type Client, KINDS } from "../support/clients-face.ts";
import { doorFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";

/** `level: data` of every log message so far. */
function logOf({ heard }: Client): string[] {
  return heard
    .filter(({ method }) => method === "notifications/message")
    .map(({ params }) => `${String(params["level"])}: ${JSON.stringify(params["data"])}`);
}

describe.each(KINDS)("logging, %s", (kind) => {
  test("of the fixture, at the level asked for", async ({ expect, connect }) => {
    const client = await connect(kind, doorFor(kind, "fixture"));
    await client.setLogLevel("info");
    await client.callTool("test_tool_with_logging");
    const all = [
      'info: "Tool execution started"',
      'info: "Tool processing data"',
      'info: "Tool execution completed"',
    ];
    expect(logOf(client)).toEqual(all);

    await client.setLogLevel("warning");
    await client.callTool("test_tool_with_logging");
    expect(logOf(client)).toEqual(all);
  });

  test.for([
    ["debug", ["debug", "info", "notice", "warning"]],
    ["notice", ["notice", "warning"]],
    ["emergency", []],
  ] as const)("of the demo, from %s on", async ([level, levels], { expect, connect }) => {
    const client = await connect(kind, doorFor(kind, "demo"));
    await client.setLogLevel(level);
    await client.callTool("listen_to_kettle");
    expect(logOf(client).map((line) => line.split(":")[0])).toEqual(levels);
    expect(client.heard.map(({ params }) => params["logger"])).toEqual(levels.map(() => "kettle"));
  });
});

test("a modern client that names no level hears nothing", async ({ expect, connect }) => {
  const client = await connect("v2-modern", doorFor("v2-modern", "fixture"));
  await client.callTool("test_tool_with_logging");
  expect(client.heard).toEqual([]);
});

describe.each([
  ["v1-http", "everything"],
  ["v1-sse", "everything"],
  ["v2-legacy", "everything"],
  ["v1-http", "everything-sse"],
  ["v1-sse", "everything-sse"],
] as const)("logging on the side, %s at %s", (kind, slug) => {
  test("reaches the client though no call runs", async ({ expect, connect }) => {
    const client = await connect(kind, doorFor(kind, slug));
    await client.setLogLevel("debug");
    await client.callTool("toggle-simulated-logging");
    await vi.waitFor(() => expect(logOf(client).join()).toMatch(/message - SessionId/), {
      timeout: 30_000,
    });
    expect(textOf(await client.callTool("toggle-simulated-logging"))).toContain("Stopped");
  });
});
