// Tools that need something from the client program rather than from its user: a completion of
// its model, or the list of its roots.

import { inputRequired, inputResponse } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { sampledText, text } from "./results.ts";

export function addSamplingAndRootsTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    {
      description: "Has the client's model answer the prompt",
      inputSchema: z.object({ prompt: z.string() }),
    },
    ({ prompt }, ctx) => sample(ctx, prompt),
  );

  server.registerTool(
    "test_missing_capability",
    { description: "Needs the sampling capability, so callers without it are refused" },
    (ctx) => sample(ctx, "Reply with one word: pong"),
  );

  server.registerTool(
    "test_list_roots",
    { description: "Returns the URIs of the client's roots, one per line" },
    ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "roots");
      if (answer.kind === "roots") return text(answer.roots.map(({ uri }) => uri).join("\n"));
      return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    },
  );
}

function sample(ctx: ServerContext, prompt: string): CallToolResult | InputRequiredResult {
  const answer = sampledText(inputResponse(ctx.mcpReq.inputResponses, "completion"));
  if (answer !== undefined) return text(`LLM response: ${answer}`);
  const completion = inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 100,
  });
  return inputRequired({ inputRequests: { completion } });
}
