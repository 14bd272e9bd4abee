/** Relays a request to its server, with the gateway's changes to the request and its result. */

import { toolFactsOf } from "../../catalog/cache/tool-facts.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { attributedAt, attributedInputRequests } from "../../endpoint/attribution.ts";
import { guarded } from "../guard/guarded.ts";
import { logged, loggedForAll } from "../guard/logged.ts";
import type { Server } from "../../endpoint/server.ts";
import { answerConnectTool } from "../accounts/connect-tool.ts";
import { accountNeedOf } from "../../upstream/upstream-error.ts";
import { askForAccount, awaitAccount } from "./connect-round.ts";
import { giveTask, withoutTaskNotices } from "./client-task.ts";
import type { RequestContext } from "../../relay/modern-context.ts";
import { relayModern } from "../../relay/relay-modern.ts";
import { readState, sealState, type StateReading, withState } from "./request-state.ts";

/** @param call in the server's own names. */
export async function callServer(
  requestContext: RequestContext,
  server: Server,
  call: Call,
): Promise<Reply> {
  const reading = await readState(requestContext.context, call);
  const isForeign = reading.kind === "state" && reading.slug !== server.slug;
  if (reading.kind === "foreign" || isForeign) return refuseForeignState(requestContext);
  return callWith(requestContext, server, call, reading);
}

/** @param reading a state of this server, or none. */
export async function callWith(
  requestContext: RequestContext,
  server: Server,
  call: Call,
  reading: StateReading,
): Promise<Reply> {
  const { context, client, peer } = requestContext;
  const own = withState(call, reading);
  if (reading.kind === "state" && reading.connecting !== undefined) {
    const declined = await awaitAccount(requestContext, server, call, reading.connecting);
    if (declined !== undefined) {
      const request = { span: peer.span, server: server.slug, call: own };
      return logged(context, request, () => Promise.resolve({ reply: declined }));
    }
  }
  const connected = await answerConnectTool(context, server, client, own, peer.span);
  if (connected !== undefined) return connected;
  const reply = await relayTo(requestContext, server, own);
  const need = accountNeedOf(reply);
  if (need !== undefined) return askForAccount(requestContext, server, own, need);
  if ("error" in reply) return reply;
  const { resultType } = reply.result;
  if (resultType === "task") return giveTask(requestContext, server, reply.result);
  if (resultType !== "input_required") return reply;
  const { isMerged } = context.endpoint;
  const result = isMerged ? attributedInputRequests(reply.result, server.slug) : reply.result;
  return { result: await sealState(context, server.slug, call.method, result) };
}

/** Such a call reaches no server. The log shows who sends them: somebody may be probing. */
export function refuseForeignState({ context, inbound, peer }: RequestContext): Promise<Reply> {
  const refusal = errorReply(
    ErrorCode.InvalidParams,
    "requestState was not given to this client for this request; begin anew without it and without inputResponses",
  );
  return loggedForAll(context, peer.span, inbound.message, () => Promise.resolve(refusal));
}

/** Relays a call unchanged, through the guard. With several servers, the result names its server. */
export async function relayTo(
  { context, client, inbound, peer, signal }: RequestContext,
  server: Server,
  call: Call,
): Promise<Reply> {
  const { id, jsonrpc } = inbound.message;
  const message = { jsonrpc, id, ...call };
  const request = { server, call, client, span: peer.span };
  const reply = await guarded(context, request, () =>
    relayModern(context, server.target, {
      ...inbound,
      message,
      toolFacts: toolFactsOf(context, server, client),
      peer: withoutTaskNotices(peer),
      signal,
    }),
  );
  return attributedAt(context.endpoint, server.slug, reply);
}
