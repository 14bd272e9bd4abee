// The test_input_required_result_* tools that need one round: each asks until the answers it
// needs have come, and then completes.

import { inputRequired, inputResponse } from "@modelcontextprotocol/server";
import type { InputRequests, McpServer } from "@modelcontextprotocol/server";
import { requestState } from "../state-codec.ts";
import { askModel, askName, nameFrom } from "./questions.ts";
import { sampledText, text } from "./results.ts";

export function addInputRequiredTools(server: McpServer): void {
  server.registerTool(
    "test_input_required_result_elicitation",
    { description: "Asks for a name and greets it" },
    (ctx) => {
      const name = nameFrom(ctx, "user_name");
      if (name !== undefined) return text(`Hello, ${name}!`);
      return inputRequired({ inputRequests: { user_name: askName() } });
    },
  );

  server.registerTool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model for a capital" },
    ({ mcpReq }) => {
      const answer = sampledText(inputResponse(mcpReq.inputResponses, "capital_question"));
      if (answer !== undefined) return text(`The model says: ${answer}`);
      const capital_question = askModel("What is the capital of France?", 100);
      return inputRequired({ inputRequests: { capital_question } });
    },
  );

  server.registerTool(
    "test_input_required_result_list_roots",
    { description: "Asks for the client's roots and lists them" },
    ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "client_roots");
      if (answer.kind === "roots") {
        return text(`Roots: ${answer.roots.map(({ uri }) => uri).join(", ")}`);
      }
      return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  );

  server.registerTool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks for a name, a greeting and the roots in one round" },
    async (ctx) => {
      const { inputResponses } = ctx.mcpReq;
      const name = nameFrom(ctx, "user_name");
      const greeting = sampledText(inputResponse(inputResponses, "greeting"));
      const roots = inputResponse(inputResponses, "client_roots");
      if (name !== undefined && greeting !== undefined && roots.kind === "roots") {
        return text(`${greeting} ${name}, you have ${roots.roots.length} root(s)`);
      }
      return inputRequired({
        inputRequests: {
          user_name: askName(),
          greeting: askModel("Generate a greeting", 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await requestState.mint({ tool: "multiple_inputs", round: 1 }),
      });
    },
  );

  server.registerTool(
    "test_input_required_result_capabilities",
    { description: "Asks only for what the client says it can give" },
    ({ mcpReq }) => {
      if (mcpReq.inputResponses !== undefined) return text("Got what the client can give");
      // The SDK fills these from initialize (legacy) or from the request itself (2026-07-28).
      const declared = server.server.getClientCapabilities();
      const inputRequests: InputRequests = {
        ...(declared?.elicitation && { user_name: askName() }),
        ...(declared?.sampling && { greeting: askModel("Generate a greeting", 50) }),
        ...(declared?.roots && { client_roots: inputRequired.listRoots() }),
      };
      if (Object.keys(inputRequests).length === 0) return text("The client can give nothing");
      return inputRequired({ inputRequests });
    },
  );
}
