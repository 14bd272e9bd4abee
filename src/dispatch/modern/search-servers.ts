/** Finds a resource that no server lists, for a modern client: a state leads back to the asking server. */

import { type Call, forked } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { firstFound } from "../../catalog/routing/first-found.ts";
import type { Server } from "../../endpoint/server.ts";
import { callServer, callWith, refuseForeignState } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";
import { readState } from "./request-state.ts";

/** @returns the first result; else the error of a server that knows the resource. */
export async function searchServers(
  requestContext: RequestContext,
  servers: readonly Server[],
  call: Call,
): Promise<Reply> {
  const { waitUntil } = requestContext.context;
  const reading = await readState(requestContext.context, call);
  if (reading.kind === "foreign") return refuseForeignState(requestContext);
  // The server that gave the state is the one that asked.
  const candidates =
    reading.kind === "state" ? servers.filter(({ slug }) => slug === reading.slug) : servers;
  if (reading.kind === "state" && candidates.length === 0)
    return refuseForeignState(requestContext);
  return firstFound(
    candidates,
    (server, signal) => {
      const peer = forked(requestContext.peer);
      return callWith({ ...requestContext, peer, signal }, server, call, reading);
    },
    {
      uri: call.params?.uri,
      era: "modern",
      signal: requestContext.signal,
      waitUntil,
      spare: (server, result) => refuseQuestions(requestContext, server, call, result),
    },
  );
}

/**
 * Cancels questions that no client received, so that the server does not keep a call for their
 * answers. Only an elicitation can be cancelled (2026-07-28, elicitation: `cancel`); a call with any
 * other question waits for its server's timeout.
 *
 * @param result of the call, for its client: its state is sealed. Other results are ignored.
 */
async function refuseQuestions(
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
  const { method } = isObject(question) ? question : {};
  return method === "elicitation/create";
}
