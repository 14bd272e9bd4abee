/**
 * Clients of both eras over HTTP+SSE: they ask for the newer era first, and go on in the older one when
 * they get the answer that there is none.
 */

import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, test } from "vitest";

import { buildPeer } from "../../bench/machinery/bundle.ts";
import { installPeers } from "../../bench/machinery/install.ts";
import { startWorkerd, type Workerd } from "../../bench/machinery/workerd.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";

const CALL = {
  args: { message: "hello" },
  said: "Echo: hello",
};
const DOORS = [
  { path: "/sse", tool: "everything__echo" },
  { path: "/sse/everything", tool: "echo" },
  { path: "/sse/everything-sse", tool: "echo" },
] as const;

describe("the official SDK 2.x in its mode auto", () => {
  test.for(DOORS)("connects over $path and calls a tool", async ({ path, tool }, { expect }) => {
    const client = new Client(
      { name: "test-v2-auto", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" } },
    );
    await client.connect(new SSEClientTransport(new URL(sharedServers().gateway + path)));
    try {
      expect(client.getProtocolEra()).toBe("legacy");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain(tool);
      const result = await client.callTool({ name: tool, arguments: CALL.args });
      expect(textOf(result)).toBe(CALL.said);
      await client.ping();
    } finally {
      await client.close();
    }
  });
});

describe("the MCP client of the agents package", () => {
  let agent: Workerd;

  // The root's installation does not have it: it comes with that of the benchmark, from its own lock.
  beforeAll(async () => {
    installPeers();
    agent = await startWorkerd([{ bundle: buildPeer("agent-client") }]);
  });
  afterAll(() => agent.stop());

  test.for(DOORS)("connects over $path and calls a tool", async ({ path, tool }, { expect }) => {
    const order = { url: sharedServers().gateway + path, transport: "sse", tool, args: CALL.args };
    const response = await fetch(`${agent.origins[0]}/${crypto.randomUUID()}`, {
      method: "POST",
      body: JSON.stringify(order),
    });
    const said = await response.text();
    expect({ said, status: response.status }).toMatchObject({ status: 200 });
    const { tools, result } = JSON.parse(said) as { tools: string[]; result: object };
    expect(tools).toContain(tool);
    expect(result).toMatchObject({ content: [{ type: "text", text: CALL.said }] });
  });
});
