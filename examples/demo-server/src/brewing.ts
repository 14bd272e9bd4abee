// Two tools that talk while they work: one reports progress and can be stopped, one logs.

import type { McpServer } from "@modelcontextprotocol/server";
import { TEAS, teaId } from "./teas.ts";
import { toolSchema } from "./tool-schema.ts";

const STEP_MS = 400;

export function registerBrewing(server: McpServer): void {
  server.registerTool(
    "brew_tea",
    {
      title: "Brew a pot of tea",
      description: "Brews a pot in five steps over two seconds, with progress. Can be cancelled.",
      inputSchema: toolSchema({ tea: teaId.describe("Which tea to brew") }),
    },
    async ({ tea }, ctx) => {
      const { name, celsius, note } = TEAS[tea];
      const steps = [
        "Warming the pot",
        `Heating the water to ${celsius} °C`,
        "Waking the leaves with a first rinse",
        `Steeping the ${name}`,
        "Pouring",
      ];
      // Only a client that asked for progress sends a token to report it under.
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const [index, message] of steps.entries()) {
        // Rejects when the client cancels: then nobody waits for the tea, and the call ends here.
        await scheduler.wait(STEP_MS, { signal: ctx.mcpReq.signal });
        if (progressToken === undefined) continue;
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: index + 1, total: steps.length, message },
        });
      }
      return { content: [{ type: "text", text: `Your ${name} is ready: ${note}.` }] };
    },
  );

  server.registerTool(
    "listen_to_kettle",
    {
      title: "Listen to the kettle",
      description: "Tells what the kettle says, as log messages from debug to warning.",
      annotations: { readOnlyHint: true },
    },
    async (ctx) => {
      // The SDK drops what is below the level the client asked for.
      await ctx.mcpReq.log("debug", { celsius: 40, sound: "silence" }, "kettle");
      await ctx.mcpReq.log("info", { celsius: 70, sound: "a murmur, like far rain" }, "kettle");
      await ctx.mcpReq.log("notice", { celsius: 90, sound: "singing" }, "kettle");
      await ctx.mcpReq.log("warning", { celsius: 100, sound: "whistling! Lift it off!" }, "kettle");
      const text = "The kettle murmured, sang and whistled. The details are in the log.";
      return { content: [{ type: "text", text }] };
    },
  );
}
