/** Replaces a server's error where it would break a promise of the gateway. */

import { isOpen } from "../../policy/item-policy.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { noCompletions, resourceNotFound } from "../../catalog/routing/routing-refusals.ts";
import type { Server } from "../../endpoint/server.ts";
import { eraOfCall } from "./guard-refusals.ts";

/** The codes of 2026-07-28 and of earlier revisions; servers on the SDKs use the former in all. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
]);

export function settled({ isMerged }: Endpoint, server: Server, call: Call, reply: Reply): Reply {
  if (!("error" in reply)) return reply;
  const { code } = reply.error;
  const { method, params } = call;
  if (method === "completion/complete" && isMerged && code === ErrorCode.MethodNotFound) {
    return noCompletions(eraOfCall(call));
  }
  // A missing resource must look like a forbidden one, and a forbidden one never reaches the server.
  if (method === "resources/read" && !isOpen(server.resources) && NOT_FOUND.has(code)) {
    return resourceNotFound(eraOfCall(call), params?.uri);
  }
  return reply;
}
