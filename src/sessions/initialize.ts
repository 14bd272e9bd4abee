/** `initialize` from the server's side: what a client says of itself, and what it is told. */

import { isObject, type JsonObject, type Params } from "../protocol/json-rpc.ts";
import { negotiate } from "../protocol/revisions.ts";
import type { ClientFacts, Opening } from "./dispatch.ts";

/** @returns the facts of the session, or one sentence that says what is wrong with the params. */
export function parseInitialize(params: Params | undefined): ClientFacts | string {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  if (typeof protocolVersion !== "string") return "params.protocolVersion must be a string";
  if (!isObject(capabilities)) return "params.capabilities must be an object";
  if (!isObject(clientInfo) || typeof clientInfo["name"] !== "string") {
    return 'params.clientInfo must be an object with a "name"';
  }
  return { revision: negotiate(protocolVersion), capabilities, clientInfo };
}

export function answerInitialize(
  { revision }: ClientFacts,
  opening: Exclude<Opening, { error: unknown }>,
): JsonObject {
  return { protocolVersion: revision, ...opening };
}
