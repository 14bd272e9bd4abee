// A tool that sends as much as a test wants, in progress notifications, at the pace of its reader.

import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { readyForMore } from "../flow.ts";
import { failure, text } from "./results.ts";

export function addBurstTool(server: McpServer): void {
  server.registerTool(
    "test_burst",
    {
      description: "Sends `count` progress notifications with a message of `bytes` characters each",
      inputSchema: z.object({ count: z.int().min(0), bytes: z.int().min(0) }),
    },
    async ({ count, bytes }, { http, mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return failure("test_burst needs a progressToken");
      const message = "x".repeat(bytes);
      for (let progress = 1; progress <= count; progress++) {
        mcpReq.signal.throwIfAborted();
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: count, message },
        });
        await readyForMore(http?.req);
      }
      return text(`Sent ${count} notifications of ${bytes} characters`);
    },
  );
}
