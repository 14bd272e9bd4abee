/**
 * Clients of both eras over HTTP+SSE: they ask for the newer era first, and go on in the older one when
 * they are told that there is none.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, inject, test } from "vitest";

import { installPeers } from "../../bench/machinery/install.ts";
import { freePort } from "../support/free-port.ts";
import { type Program, ROOT, startProgram } from "../support/process.ts";
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
    await client.connect(new SSEClientTransport(new URL(inject("gateway") + path)));
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
  let state: string;
  let agent: Program;
  let url: string;

  // The root's installation does not have it: it comes with that of the benchmark, from its own lock.
  beforeAll(async () => {
    installPeers();
    const port = await freePort();
    url = `http://localhost:${port}`;
    state = await mkdtemp(join(tmpdir(), "edgeway-agent-"));
    agent = await startProgram({
      command: `${ROOT}node_modules/.bin/wrangler`,
      args: [
        ...["dev", "-c", "bench/peers/agent-client.toml", "--port", String(port)],
        ...["--inspector-port", "0", "--persist-to", state],
      ],
      env: {
        WRANGLER_SEND_METRICS: "false",
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        WRANGLER_REGISTRY_PATH: state,
      },
      readyUrl: `${url}/health`,
    });
  });
  afterAll(async () => {
    await agent.stop();
    await rm(state, { recursive: true, force: true });
  });

  test.for(DOORS)("connects over $path and calls a tool", async ({ path, tool }, { expect }) => {
    const order = { url: inject("gateway") + path, transport: "sse", tool, args: CALL.args };
    const response = await fetch(`${url}/${crypto.randomUUID()}`, {
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
