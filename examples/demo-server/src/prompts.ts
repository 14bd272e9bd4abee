// Prompts with arguments, and suggestions for those arguments while the guest is still typing.

import { completable, type McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { completeTea, MOODS, TEAS, teaId } from "./teas.ts";

export function registerPrompts(server: McpServer): void {
  server.registerPrompt(
    "tea_ceremony",
    {
      title: "Tea ceremony",
      description: "Has the model host a short tea ceremony for a guest.",
      argsSchema: z.object({
        guest: z.string().describe("Who is the guest?"),
        tea: completable(teaId.describe("Which tea is served"), (typed) => completeTea(typed)),
      }),
    },
    ({ guest, tea }) => ({
      description: `A ceremony with ${TEAS[tea].name}`,
      messages: [
        {
          role: "user",
          content: {
            type: "text",
            text:
              `Host a tea ceremony for ${guest}. Serve ${TEAS[tea].name} (${TEAS[tea].note}). ` +
              "Five steps, one sentence each.",
          },
        },
      ],
    }),
  );

  server.registerPrompt(
    "tea_for_mood",
    {
      title: "A tea for your mood",
      description: "Asks the model whether a tea suits a mood. Suggests teas that do.",
      argsSchema: z.object({
        mood: completable(z.string().describe("How are you?"), (typed) =>
          MOODS.filter((mood) => mood.startsWith(typed.toLowerCase())),
        ),
        // What is suggested here depends on what was filled in above.
        tea: completable(teaId.describe("Which tea you think of"), (typed, context) => {
          const mood = context?.arguments?.["mood"];
          const teas = completeTea(typed);
          return mood ? teas.filter((id) => TEAS[id].moods.includes(mood)) : teas;
        }),
      }),
    },
    ({ mood, tea }) => ({
      messages: [
        {
          role: "user",
          // A message can carry a resource, so that the model reads what the prompt speaks of.
          content: {
            type: "resource",
            resource: {
              uri: `teahouse://tea/${tea}`,
              mimeType: "text/plain",
              text: `${TEAS[tea].name} from ${TEAS[tea].origin}: ${TEAS[tea].note}`,
            },
          },
        },
        {
          role: "user",
          content: { type: "text", text: `I feel ${mood}. Is this the right tea for me?` },
        },
      ],
    }),
  );
}
