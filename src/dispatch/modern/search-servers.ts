/** Finds a resource that no server lists, for a modern client: a state leads back to the asking server. */

import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { firstFound } from "../../catalog/routing/first-found.ts";
import type { Server } from "../../endpoint/server.ts";
import { callWith, foreignState } from "./call-server.ts";
import type { RequestContext } from "../../relay/modern-context.ts";
import { refuseQuestions } from "./refuse-questions.ts";
import { readState } from "./request-state.ts";

/** @returns the first result; else the error of a server that knows the resource. */
export async function searchServers(
  requestContext: RequestContext,
  servers: readonly Server[],
  call: Call,
): Promise<Reply> {
  const { waitUntil } = requestContext.context;
  const reading = await readState(requestContext.context, call);
  if (reading.kind === "foreign") return foreignState();
  // The server that gave the state is the one that asked.
  const candidates =
    reading.kind === "state" ? servers.filter(({ slug }) => slug === reading.slug) : servers;
  if (reading.kind === "state" && candidates.length === 0) return foreignState();
  return firstFound(
    candidates,
    (server, signal) => callWith({ ...requestContext, signal }, server, call, reading),
    {
      uri: call.params?.uri,
      era: "modern",
      signal: requestContext.signal,
      waitUntil,
      spare: (server, result) => refuseQuestions(requestContext, server, call, result),
    },
  );
}
