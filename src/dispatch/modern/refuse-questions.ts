/**
 * Cancels questions that no client received, so that the server does not keep a call for their
 * answers. Only an elicitation can be cancelled (2026-07-28, elicitation: `cancel`); a call with any
 * other question waits for its server's timeout.
 */

import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Server } from "../../endpoint/server.ts";
import { callServer } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";

/** @param result of the call, for its client: its state is sealed. Other results are ignored. */
export async function refuseQuestions(
  requestContext: RequestContext,
  server: Server,
  { method, params }: Call,
  { resultType, inputRequests, requestState }: JsonObject,
): Promise<void> {
  if (resultType !== "input_required" || !isObject(inputRequests)) return;
  const questions = Object.entries(inputRequests);
  if (!questions.every(([, question]) => isDialog(question))) return;
  const inputResponses = Object.fromEntries(questions.map(([key]) => [key, { action: "cancel" }]));
  // The client waits for another server's answer, or for none any more.
  const peer = { ...requestContext.peer, notify: () => Promise.resolve() };
  const { signal } = new AbortController();
  const refusal = { ...params, inputResponses, requestState };
  await callServer({ ...requestContext, peer, signal }, server, { method, params: refusal });
}

function isDialog(question: unknown): boolean {
  return isObject(question) && question["method"] === "elicitation/create";
}
