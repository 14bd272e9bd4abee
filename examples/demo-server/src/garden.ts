// The gate behind the house. Opening it adds a tool, a prompt and a resource; closing it takes
// them away; both tell the client that its lists have changed.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { toolSchema } from "./tool-schema.ts";
import type { World } from "./world.ts";

export interface Garden {
  show(open: boolean): void;
}

export function registerGarden(server: McpServer, world: World): Garden {
  server.registerTool(
    "open_garden",
    {
      title: "Open or close the garden",
      description:
        "Opens or closes the garden gate: adds or removes the tool feed_koi, the prompt " +
        "moon_viewing and the resource teahouse://garden. Without an argument, swings the gate " +
        "the other way.",
      inputSchema: toolSchema({
        open: z.boolean().optional().describe("true opens the gate, false closes it"),
      }),
    },
    ({ open = !world.gardenOpen }) => {
      const changed = world.setGarden(open);
      const text = `The garden gate is ${changed ? "now" : "already"} ${open ? "open" : "closed"}.`;
      return { content: [{ type: "text", text }] };
    },
  );

  const behindTheGate = [
    server.registerTool(
      "feed_koi",
      { title: "Feed the koi", description: "Throws a pinch of rice to the koi in the pond." },
      () => ({
        content: [{ type: "text", text: "Nine koi arrive. The smallest one gets the rice." }],
      }),
    ),
    server.registerPrompt(
      "moon_viewing",
      { title: "Moon viewing", description: "An evening by the pond." },
      () => ({
        messages: [
          {
            role: "user",
            content: {
              type: "text",
              text: "Describe the moon in the pond of a teahouse garden, in two sentences.",
            },
          },
        ],
      }),
    ),
    server.registerResource(
      "garden",
      "teahouse://garden",
      { title: "The garden", description: "What is in the garden.", mimeType: "text/plain" },
      (uri) => ({
        contents: [
          {
            uri: uri.href,
            mimeType: "text/plain",
            text: "A pond, nine koi, a stone lantern, one maple, and a bench for two.",
          },
        ],
      }),
    ),
  ];

  const garden: Garden = {
    show(open) {
      for (const item of behindTheGate) {
        // On a connected server either call also sends the matching list_changed notification.
        if (open) item.enable();
        else item.disable();
      }
    },
  };
  garden.show(world.gardenOpen);
  return garden;
}
