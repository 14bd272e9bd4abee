/**
 * The server of the benchmark on version 2 of the official SDK: on Node and in workerd, over HTTP
 * and stdio, the same tools.
 */

import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

import { manyTools, type Tool } from "./many-tools.ts";

const ECHO = { description: "Says what it was told", inputSchema: z.object({ text: z.string() }) };
const BURST = {
  description: "Sends `count` progress notifications of `bytes` characters",
  inputSchema: z.object({ count: z.int(), bytes: z.int() }),
};

export function buildServer(more: readonly Tool[] = manyTools(0)): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("echo", ECHO, ({ text }) => ({ content: [{ type: "text", text }] }));
  server.registerTool("burst", BURST, async ({ count, bytes }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    const message = "x".repeat(bytes);
    for (let progress = 1; progress <= count; progress++) {
      const params = { progressToken, progress, total: count, message };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return { content: [{ type: "text", text: `${count} sent` }] };
  });
  for (const { name, config } of more) {
    server.registerTool(name, config, () => ({ content: [{ type: "text", text: name }] }));
  }
  return server;
}
