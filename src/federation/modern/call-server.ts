/** One request that is a server's: relayed, with what the gateway adds on the way there and back. */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { namingInputRequests } from "../calls/asker.ts";
import { guarded } from "../calls/guarded.ts";
import type { Server } from "../server.ts";
import type { Visit } from "./inbound.ts";
import { readState, sealState, type StateReading, withState } from "./request-state.ts";
import { toolBindings } from "./tool-bindings.ts";

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
  const { context, client } = visit;
  const restored = withState(call, reading);
  const isToolCall = call.method === "tools/call";
  const bindingsOf = isToolCall
    ? toolBindings(context, server, client, call.params?.["name"])
    : undefined;
  const reply = await relayTo(visit, server, restored, bindingsOf);
  if ("error" in reply || reply.result["resultType"] !== "input_required") return reply;
  const { isMerged } = context.endpoint;
  const result = isMerged ? namingInputRequests(reply.result, server.slug) : reply.result;
  return { result: await sealState(context, server.slug, call.method, result) };
}

/** Nothing of such a call reaches a server. */
export function foreignState(): Reply {
  return errorReply(
    ErrorCode.InvalidParams,
    "requestState is missing, or was not given to this client for this request; begin anew without it and without inputResponses",
  );
}

/** Relays as it is, guarded. */
export async function relayTo(
  { context, inbound, peer, signal }: Visit,
  server: Server,
  call: Call,
  bindingsOf?: ReturnType<typeof toolBindings>,
): Promise<Reply> {
  const { id, jsonrpc } = inbound.message;
  const addressed = {
    ...{ ...inbound, message: { jsonrpc, id, ...call } },
    ...(bindingsOf === undefined ? {} : { bindingsOf }),
  };
  const reply = await guarded(context, server, call, () =>
    context.relay(server.target, addressed, peer, signal),
  );
  return context.endpoint.isMerged ? sparingOthers(reply, server.slug) : reply;
}

/**
 * A server of the other era is no reason to leave the whole gateway, as a client would that is told
 * of its revisions (2026-07-28, versioning).
 */
function sparingOthers(reply: Reply, slug: string): Reply {
  if (!("error" in reply) || reply.error.code !== ErrorCode.UnsupportedProtocolVersion) {
    return reply;
  }
  const sentence = `Upstream "${slug}" does not speak 2026-07-28; it is here for clients of older revisions`;
  return errorReply(ErrorCode.InternalError, sentence, { upstream: slug, reason: "other-era" });
}
