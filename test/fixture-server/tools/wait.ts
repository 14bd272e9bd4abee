// A tool that takes its time, and one that tells how often it was cancelled while doing so.

import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { World } from "../world.ts";
import { text } from "./results.ts";

export function addWaitTools(server: McpServer, world: World): void {
  server.registerTool(
    "test_wait",
    {
      description: "Answers after `ms` milliseconds, unless it is cancelled before",
      inputSchema: z.object({ ms: z.int().min(0) }),
    },
    async ({ ms }, { mcpReq: { signal } }) => {
      try {
        await sleep(ms, undefined, { signal });
      } catch (error) {
        if (signal.aborted) world.cancelledWaits += 1;
        throw error;
      }
      return text(`Waited ${ms} ms`);
    },
  );

  server.registerTool(
    "test_cancelled_count",
    { description: "Returns how many test_wait calls were cancelled so far" },
    () => text(String(world.cancelledWaits)),
  );
}
