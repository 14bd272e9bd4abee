// The test_input_required_result_* tools that carry signed state from one round to the next.
// A state that was tampered with is refused by the SDK before a tool runs.

import { acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { requestState } from "../state-codec.ts";
import type { RequestState } from "../state-codec.ts";
import { askConfirmation, askName, isConfirmed, nameFrom } from "./questions.ts";
import { text } from "./results.ts";

const colorForm = z.object({ color: z.string() });

export function addRequestStateTools(server: McpServer): void {
  server.registerTool(
    "test_input_required_result_request_state",
    { description: "Completes when the confirmation and its state came back" },
    (ctx) => confirm(ctx, "request_state", "state-ok: the state came back unchanged"),
  );

  server.registerTool(
    "test_input_required_result_tampered_state",
    { description: "Refuses a state that was changed on the way" },
    (ctx) => confirm(ctx, "tampered_state", "integrity-ok: the state came back unchanged"),
  );

  server.registerTool(
    "test_input_required_result_multi_round",
    { description: "Asks for a name, then for a color, then completes" },
    async (ctx) => {
      const state = stateOf(ctx, "multi_round");
      const color = acceptedContent(ctx.mcpReq.inputResponses, "step2", colorForm)?.color;
      if (state?.round === 2 && color !== undefined) return text(`${state.name} likes ${color}`);
      const name = state?.round === 2 ? state.name : nameFrom(ctx, "step1");
      if (state === undefined || name === undefined) {
        return inputRequired({
          inputRequests: { step1: askName("Step 1: What is your name?") },
          requestState: await requestState.mint({ tool: "multi_round", round: 1 }),
        });
      }
      const message = "Step 2: What is your favorite color?";
      return inputRequired({
        inputRequests: { step2: inputRequired.elicit({ message, requestedSchema: colorForm }) },
        requestState: await requestState.mint({ tool: "multi_round", round: 2, name }),
      });
    },
  );
}

async function confirm(
  ctx: ServerContext,
  tool: string,
  done: string,
): Promise<CallToolResult | InputRequiredResult> {
  if (isConfirmed(ctx, "confirm") && stateOf(ctx, tool) !== undefined) return text(done);
  return inputRequired({
    inputRequests: { confirm: askConfirmation() },
    requestState: await requestState.mint({ tool, round: 1 }),
  });
}

/** The state that this very tool issued; the SDK has checked its signature already. */
function stateOf(ctx: ServerContext, tool: string): RequestState | undefined {
  const state = ctx.mcpReq.requestState<RequestState>();
  return state?.tool === tool ? state : undefined;
}
