// Three tools that answer at once: with plain text, with structured content, and with an error.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { TEA_IDS, TEAS, teaId } from "./teas.ts";
import { toolSchema } from "./tool-schema.ts";

const MILLILITRES_PER_CUP = 150;
const DAY_MS = 24 * 60 * 60 * 1000;

export function registerAnswers(server: McpServer): void {
  server.registerTool(
    "todays_tea",
    {
      title: "Today's tea",
      description: "Names the tea of the day.",
      annotations: { readOnlyHint: true },
    },
    () => {
      const day = Math.floor(Date.now() / DAY_MS);
      const tea = TEAS[TEA_IDS[day % TEA_IDS.length] ?? "sencha"];
      const text = `Today we pour ${tea.name} from ${tea.origin}: ${tea.note}.`;
      return { content: [{ type: "text", text }] };
    },
  );

  server.registerTool(
    "steeping_guide",
    {
      title: "Steeping guide",
      description: "How hot, how long and how much, for a tea and a number of cups.",
      inputSchema: toolSchema({
        tea: teaId.describe("Which tea"),
        cups: z.number().int().min(1).max(6).default(1).describe("How many cups"),
      }),
      // Clients get this schema with the tool, so a program can rely on the answer's shape.
      outputSchema: toolSchema({
        tea: z.string(),
        cups: z.number().int(),
        celsius: z.number(),
        seconds: z.number(),
        grams: z.number(),
        millilitres: z.number(),
      }),
      annotations: { readOnlyHint: true },
    },
    ({ tea, cups }) => {
      const { name, celsius, seconds, grams } = TEAS[tea];
      const guide = {
        tea: name,
        cups,
        celsius,
        seconds,
        grams: grams * cups,
        millilitres: MILLILITRES_PER_CUP * cups,
      };
      // The same as text, for clients that know nothing of structured content.
      return {
        structuredContent: guide,
        content: [{ type: "text", text: JSON.stringify(guide) }],
      };
    },
  );

  server.registerTool(
    "brew_coffee",
    {
      title: "Brew coffee",
      description: "Asks the teahouse for coffee. It always fails, and says what to do instead.",
    },
    // isError, not an exception: the model reads this text and can choose something else.
    () => ({
      isError: true,
      content: [
        {
          type: "text",
          text:
            "418 I'm a teapot. There is no coffee here. " +
            `Try brew_tea with one of: ${TEA_IDS.join(", ")}.`,
        },
      ],
    }),
  );
}
