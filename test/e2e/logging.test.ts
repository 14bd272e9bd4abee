/** Log messages of servers: what the client asked for, all of it, in order, and nothing else. */

import { describe, vi } from "vitest";

import { type Client, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";

/** `level: data` of every log message so far. */
function logOf({ notifications }: Client): string[] {
  return notifications
    .filter(({ method }) => method === "notifications/message")
    .map(({ params }) => `${String(params["level"])}: ${JSON.stringify(params["data"])}`);
}

describe.each(KINDS)("a log message, %s,", (kind) => {
  test("of the fixture arrives if it has the level that was set", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "fixture"));
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
  ] as const)(
    "of the demo arrives from the level %s on",
    async ([level, levels], { expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, "demo"));
      await client.setLogLevel(level);
      await client.callTool("listen_to_kettle");
      expect(logOf(client).map((line) => line.split(":")[0])).toEqual(levels);
      expect(client.notifications.map(({ params }) => params["logger"])).toEqual(
        levels.map(() => "kettle"),
      );
    },
  );
});

test("a modern client that sets no level receives no log message", async ({ expect, connect }) => {
  const client = await connect("v2-modern", endpointFor("v2-modern", "fixture"));
  await client.callTool("test_tool_with_logging");
  expect(client.notifications).toEqual([]);
});

describe.each([
  ["v1-http", "everything"],
  ["v1-sse", "everything"],
  ["v2-legacy", "everything"],
  ["v1-http", "everything-sse"],
  ["v1-sse", "everything-sse"],
] as const)("a log message outside a call, %s at %s,", (kind, slug) => {
  test("reaches the client", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, slug));
    await client.setLogLevel("debug");
    await client.callTool("toggle-simulated-logging");
    await vi.waitFor(() => expect(logOf(client).join()).toMatch(/message - SessionId/), {
      timeout: 30_000,
    });
    expect(textOf(await client.callTool("toggle-simulated-logging"))).toContain("Stopped");
  });
});
