// The questions that the input_required tools share, and how to read the answers.

import { acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import type { InputRequest, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";

const nameForm = z.object({ name: z.string() });
const confirmForm = z.object({ ok: z.boolean() });

export function askName(message = "What is your name?"): InputRequest {
  return inputRequired.elicit({ message, requestedSchema: nameForm });
}

/** The accepted name under a key; undefined for a missing, declined or malformed answer. */
export function nameFrom(ctx: ServerContext, key: string): string | undefined {
  return acceptedContent(ctx.mcpReq.inputResponses, key, nameForm)?.name;
}

export function askConfirmation(): InputRequest {
  return inputRequired.elicit({ message: "Please confirm", requestedSchema: confirmForm });
}

export function isConfirmed(ctx: ServerContext, key: string): boolean {
  return acceptedContent(ctx.mcpReq.inputResponses, key, confirmForm) !== undefined;
}

export function askModel(prompt: string, maxTokens: number): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });
}
