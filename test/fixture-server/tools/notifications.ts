// Tools that say something before they answer (progress, log messages) and one that drops its
// stream halfway, so that the client has to come back for the answer.

import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { text } from "./results.ts";

/** Long enough for two messages to arrive as two. */
const PAUSE_MS = 50;

export function addNotificationTools(server: McpServer): void {
  server.registerTool(
    "test_tool_with_progress",
    { description: "Reports progress at 0, 50 and 100 when the caller gave a progress token" },
    async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await sleep(PAUSE_MS, undefined, { signal: mcpReq.signal });
        if (progressToken === undefined) continue;
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100, message: `${progress} of 100` },
        });
      }
      return text("Tool with progress executed successfully");
    },
  );

  server.registerTool(
    "test_tool_with_logging",
    { description: "Logs three messages at level info" },
    async ({ mcpReq }) => {
      await mcpReq.log("info", "Tool execution started");
      await sleep(PAUSE_MS, undefined, { signal: mcpReq.signal });
      await mcpReq.log("info", "Tool processing data");
      await sleep(PAUSE_MS, undefined, { signal: mcpReq.signal });
      await mcpReq.log("info", "Tool execution completed");
      return text("Tool with logging executed successfully");
    },
  );

  server.registerTool(
    "test_logging_tool",
    { description: "Logs one message; in 2026-07-28 only when the request names a log level" },
    async ({ mcpReq }) => {
      await mcpReq.log("info", "test_logging_tool was called");
      return text("Logged, if anyone wanted to hear it");
    },
  );

  server.registerTool(
    "test_reconnection",
    { description: "Closes its event stream before it answers (2025-11-25)" },
    async ({ http, mcpReq }) => {
      http?.closeSSE?.();
      await sleep(2 * PAUSE_MS, undefined, { signal: mcpReq.signal });
      return text("The answer after the reconnection");
    },
  );
}
