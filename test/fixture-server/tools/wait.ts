// Tools that take their time, by the clock or until they are let go, and what belongs to them.

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
      inputSchema: z.object({ ms: z.int().min(0), name: z.string().optional() }),
    },
    async ({ ms, name }, { mcpReq: { signal } }) => {
      if (name !== undefined) named(world.waits, name).resolve();
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
    "test_wait_begun",
    {
      description: "Answers once a test_wait of a name has begun",
      inputSchema: z.object({ name: z.string() }),
    },
    async ({ name }) => {
      await named(world.waits, name).promise;
      return text(`Begun: ${name}`);
    },
  );

  server.registerTool(
    "test_cancelled_count",
    { description: "Returns how many test_wait calls were cancelled so far" },
    () => text(String(world.cancelledWaits)),
  );

  server.registerTool(
    "test_hold",
    {
      description: "Says so, by progress and in the log, and answers once its name is let go",
      inputSchema: z.object({ name: z.string() }),
    },
    async ({ name }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      const tell = async (progress: number, what: string): Promise<void> => {
        await mcpReq.log("info", what);
        if (progressToken === undefined) return;
        const params = { progressToken, progress, total: 2 };
        await mcpReq.notify({ method: "notifications/progress", params });
      };
      await tell(1, "held");
      await named(world.holds, name).promise;
      await tell(2, "let go");
      return text(`Let go: ${name}`);
    },
  );

  server.registerTool(
    "test_release",
    {
      description: "Lets test_hold of a name go, from now on",
      inputSchema: z.object({ name: z.string() }),
    },
    ({ name }) => {
      named(world.holds, name).resolve();
      return text(`Released: ${name}`);
    },
  );
}

function named(
  all: Map<string, PromiseWithResolvers<void>>,
  name: string,
): PromiseWithResolvers<void> {
  const one = all.get(name) ?? Promise.withResolvers<void>();
  all.set(name, one);
  return one;
}
