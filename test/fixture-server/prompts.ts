// The prompts: plain, with arguments (which complete), with a resource, with an image, and one
// that asks its client a question first.

import { acceptedContent, completable, inputRequired } from "@modelcontextprotocol/server";
import type { McpServer, PromptMessage } from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG } from "./samples.ts";

const CITIES = ["paris", "park", "party", "test", "testing"];

const contextForm = z.object({ context: z.string() });

export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    "test_simple_prompt",
    { title: "Simple prompt", description: "A prompt without arguments" },
    () => ({ messages: [userText("This is a simple prompt for testing.")] }),
  );

  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      title: "Prompt with arguments",
      description: "Repeats its two arguments",
      argsSchema: z.object({
        arg1: completable(z.string().describe("First argument"), (value) =>
          CITIES.filter((city) => city.startsWith(value)),
        ),
        arg2: z.string().describe("Second argument"),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [userText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );

  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    {
      title: "Prompt with a resource",
      description: "Embeds a text under the given URI",
      argsSchema: z.object({ resourceUri: z.string().describe("URI to embed") }),
    },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: {
              uri,
              mimeType: "text/plain",
              text: "Embedded resource content for testing.",
            },
          },
        },
        userText("Please process the embedded resource above."),
      ],
    }),
  );

  server.registerPrompt(
    "test_prompt_with_image",
    { title: "Prompt with an image", description: "Embeds an image of one pixel" },
    () => ({
      messages: [
        { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
        userText("Please analyze the image above."),
      ],
    }),
  );

  server.registerPrompt(
    "test_input_required_result_prompt",
    { title: "Prompt that asks first", description: "Asks for a context, then repeats it" },
    ({ mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, "user_context", contextForm);
      if (answer !== undefined) return { messages: [userText(`Context: ${answer.context}`)] };
      const question = inputRequired.elicit({
        message: "What context should the prompt use?",
        requestedSchema: contextForm,
      });
      return inputRequired({ inputRequests: { user_context: question } });
    },
  );
}

function userText(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}
