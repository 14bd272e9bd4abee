/** One request that is a server's: relayed, with what the gateway adds on the way there and back. */

import { toolFactsOf } from "../catalog/tool-facts.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { attributedAt } from "../attribution.ts";
import { namingInputRequests } from "../calls/asker.ts";
import { guarded } from "../calls/guarded.ts";
import type { Server } from "../server.ts";
import { hearingNoTasks } from "../tasks/show-task.ts";
import { giveTask } from "./give-task.ts";
import type { Visit } from "./inbound.ts";
import { readState, sealState, type StateReading, withState } from "./request-state.ts";

/** @param call in the server's own names. */
export async function callServer(visit: Visit, server: Server, call: Call): Promise<Reply> {
  const reading = await readState(visit.context, call);
  const isForeign = reading.kind === "state" && reading.slug !== server.slug;
  if (reading.kind === "foreign" || isForeign) return foreignState();
  return callWith(visit, server, call, reading);
}

/** @param reading a state of this server's, or none. */
export async function callWith(
  visit: Visit,
  server: Server,
  call: Call,
  reading: StateReading,
): Promise<Reply> {
  const { context } = visit;
  const reply = await relayTo(visit, server, withState(call, reading));
  if ("error" in reply) return reply;
  const { resultType } = reply.result;
  if (resultType === "task") return giveTask(visit, server, reply.result);
  if (resultType !== "input_required") return reply;
  const { isMerged } = context.endpoint;
  const result = isMerged ? namingInputRequests(reply.result, server.slug) : reply.result;
  return { result: await sealState(context, server.slug, call.method, result) };
}

/** Nothing of such a call reaches a server. */
export function foreignState(): Reply {
  return errorReply(
    ErrorCode.InvalidParams,
    "requestState was not given to this client for this request; begin anew without it and without inputResponses",
  );
}

/** Relays as it is, guarded. Where there are several servers, the result says which it is of. */
export async function relayTo(
  { context, client, inbound, peer, signal }: Visit,
  server: Server,
  call: Call,
): Promise<Reply> {
  const { id, jsonrpc } = inbound.message;
  const message = { jsonrpc, id, ...call };
  const addressed = { ...inbound, message, toolFacts: toolFactsOf(context, server, client) };
  const reply = await guarded(context, server, call, () =>
    context.relay(server.target, addressed, hearingNoTasks(peer), signal),
  );
  return attributedAt(context.endpoint, server.slug, reply);
}
