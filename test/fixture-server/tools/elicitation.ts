// Tools that ask the user something, in a form or behind a URL, and report what came back.

import { inputRequired, inputResponse } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  InputRequest,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { defaultsForm, enumsForm, userForm } from "./forms.ts";
import { text } from "./results.ts";

export function addElicitationTools(server: McpServer): void {
  server.registerTool(
    "test_elicitation",
    {
      description: "Asks the user with the given message",
      inputSchema: z.object({ message: z.string() }),
    },
    ({ message }, ctx) =>
      ask(ctx, "User response", inputRequired.elicit({ message, requestedSchema: userForm })),
  );

  server.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks with a form whose fields have defaults" },
    (ctx) => {
      const message = "Please check the fields and their defaults";
      const form = inputRequired.elicit({ message, requestedSchema: defaultsForm });
      return ask(ctx, "Elicitation completed", form);
    },
  );

  server.registerTool(
    "test_elicitation_sep1330_enums",
    { description: "Asks with a form that has every kind of choice" },
    (ctx) => {
      const message = "Please choose from each field";
      const form = inputRequired.elicit({ message, requestedSchema: enumsForm });
      return ask(ctx, "Elicitation completed", form);
    },
  );

  server.registerTool("test_url_elicitation", { description: "Sends the user to a URL" }, (ctx) => {
    const message = "Please authorize the fixture";
    const url = "https://auth.example.com/authorize?from=fixture";
    return ask(ctx, "URL elicitation completed", inputRequired.elicitUrl({ message, url }));
  });

  server.registerTool(
    "test_streaming_elicitation",
    { description: "Reports progress when asked to, then asks the user on the same stream" },
    async (ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        const params = { progressToken, progress: 1, total: 2, message: "About to ask" };
        await ctx.mcpReq.notify({ method: "notifications/progress", params });
      }
      const message = "Shall the stream go on?";
      const form = inputRequired.elicit({
        message,
        requestedSchema: z.object({ ok: z.boolean() }),
      });
      return ask(ctx, "Streaming elicitation completed", form);
    },
  );
}

/** Asks on the first call; returns what the user did on the second. */
function ask(
  ctx: ServerContext,
  label: string,
  question: InputRequest,
): CallToolResult | InputRequiredResult {
  const answer = inputResponse(ctx.mcpReq.inputResponses, "answer");
  if (answer.kind !== "elicit") return inputRequired({ inputRequests: { answer: question } });
  return text(`${label}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}
