// Puts one MCP server together. Both eras use it: a fresh one per request for 2026 clients, one
// per session for older ones. Every handler below is written once and serves both.

import { McpServer } from "@modelcontextprotocol/server";
import { registerAnswers } from "./answers.ts";
import { registerAsking } from "./asking.ts";
import { registerBrewing } from "./brewing.ts";
import { type Garden, registerGarden } from "./garden.ts";
import { registerKettle } from "./kettle.ts";
import { registerMenu } from "./menu.ts";
import { registerPrompts } from "./prompts.ts";
import { registerSign } from "./sign.ts";
import type { World } from "./world.ts";

const INSTRUCTIONS = `You are a guest at the Lantern Teahouse, a small demo of what MCP can do.
Ask for todays_tea, brew a pot with brew_tea, place an order with order_tea, read the menu at
teahouse://menu, and watch teahouse://kettle come to the boil. open_garden reveals what is behind
the house. There is no coffee.`;

export function buildServer(world: World): { server: McpServer; garden: Garden } {
  const server = new McpServer(
    { name: "lantern-teahouse", title: "The Lantern Teahouse", version: "1.0.0" },
    {
      instructions: INSTRUCTIONS,
      // The SDK adds tools, prompts, resources and completions as they are registered.
      capabilities: { logging: {}, resources: { subscribe: true } },
    },
  );
  registerAnswers(server);
  registerBrewing(server);
  registerAsking(server);
  registerMenu(server);
  registerKettle(server);
  registerSign(server);
  registerPrompts(server);
  return { server, garden: registerGarden(server, world) };
}
