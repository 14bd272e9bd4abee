/** `initialize` from the server's side: reads the client's parameters and makes the result. */

import { ErrorCode } from "../protocol/error-codes.ts";
import { errorReply, isObject, type Reply } from "../protocol/json-rpc.ts";
import type { Params } from "../protocol/message-members.ts";
import { negotiate } from "../protocol/revisions.ts";
import type { ClientFacts, Introduce } from "./dispatch.ts";
import { boundFacts } from "./session-id.ts";

/** @returns the reply, and the client's facts when a session may begin. */
export async function initialize(
  params: Params | undefined,
  introduce: Introduce,
): Promise<{ readonly reply: Reply; readonly client?: ClientFacts }> {
  const parsed = parseInitialize(params);
  const client = typeof parsed === "string" ? parsed : boundFacts(parsed);
  if (typeof client === "string") return { reply: errorReply(ErrorCode.InvalidParams, client) };
  const opening = await introduce(client);
  if ("error" in opening) return { reply: { error: opening.error } };
  return { reply: { result: { protocolVersion: client.revision, ...opening } }, client };
}

/** @returns the client's facts, or one sentence on the first mistake in the parameters. */
function parseInitialize(params: Params | undefined): ClientFacts | string {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  if (typeof protocolVersion !== "string") return "params.protocolVersion must be a string";
  if (!isObject(capabilities)) return "params.capabilities must be an object";
  if (!isObject(clientInfo) || typeof clientInfo["name"] !== "string") {
    return 'params.clientInfo must be an object with a "name"';
  }
  return { revision: negotiate(protocolVersion), capabilities, clientInfo };
}
