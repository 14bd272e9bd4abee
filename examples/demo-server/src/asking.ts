// Two tools that need something back in mid-call: one asks the guest, one asks the guest's model.
// A handler returns inputRequired(...), and runs again from the top once the answer is there.
// For clients before 2026 the SDK sends a request over the session instead; the code is the same.

import {
  acceptedContent,
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { TEAS, teaId } from "./teas.ts";
import { toolSchema } from "./tool-schema.ts";

// What a form may ask is limited: flat, and only text, numbers, yes/no and choices.
const orderForm = z.object({
  tea: teaId.meta({ title: "Tea" }),
  cups: z.number().int().min(1).max(4).default(1).meta({ title: "Cups" }),
  honey: z.boolean().default(false).meta({ title: "With honey?" }),
  name: z.string().max(40).optional().meta({ title: "Name for the order" }),
});

export function registerAsking(server: McpServer): void {
  server.registerTool(
    "order_tea",
    {
      title: "Order tea",
      description: "Takes an order: asks the guest which tea, how many cups, and about honey.",
    },
    (ctx): CallToolResult | InputRequiredResult => {
      const reply = inputResponse(ctx.mcpReq.inputResponses, "order");
      if (reply.kind === "elicit" && reply.action !== "accept") {
        return say("No hurry. The menu is at teahouse://menu, and the cushions are free.");
      }
      // The answer comes from outside, so it is checked against the form like any input.
      const order = acceptedContent(ctx.mcpReq.inputResponses, "order", orderForm);
      if (!order) {
        return inputRequired({
          inputRequests: {
            order: inputRequired.elicit({
              message: "Welcome to the Lantern Teahouse. What may we bring you?",
              requestedSchema: orderForm,
            }),
          },
        });
      }
      const cups = order.cups === 1 ? "one cup" : `${order.cups} cups`;
      const honey = order.honey ? " with honey" : "";
      const guest = order.name ? ` for ${order.name}` : "";
      return say(`Noted${guest}: ${cups} of ${TEAS[order.tea].name}${honey}.`);
    },
  );

  server.registerTool(
    "write_haiku",
    {
      title: "Write a haiku",
      description: "Has the guest's own model write a haiku for the wall of the teahouse.",
      inputSchema: toolSchema({
        about: z.string().max(80).default("rain on the roof").describe("What it is about"),
      }),
    },
    ({ about }, ctx): CallToolResult | InputRequiredResult => {
      const reply = inputResponse(ctx.mcpReq.inputResponses, "haiku");
      if (reply.kind !== "sampling") {
        return inputRequired({
          inputRequests: {
            haiku: inputRequired.createMessage({
              systemPrompt: "You are a poet in a teahouse. Answer with the three lines only.",
              messages: [
                { role: "user", content: { type: "text", text: `Write a haiku about ${about}.` } },
              ],
              maxTokens: 100,
            }),
          },
        });
      }
      const { content, model } = reply.result;
      const blocks = Array.isArray(content) ? content : [content];
      const lines = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
      return say(`${lines}\n\n(brushed on the wall, signed ${model})`);
    },
  );
}

function say(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
