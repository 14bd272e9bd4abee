/**
 * Judges the `Mcp-Param-*` headers of a call against its arguments. A client that has been shown the
 * annotations is held to them, in whatever era the server is (2026-07-28, custom headers).
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { checkParamHeaders, type ParamBinding } from "../../protocol/param-headers.ts";
import type { InboundModern } from "./inbound-modern.ts";

export type ParamHeaderVerdict =
  | { readonly kind: "fits"; readonly bindings: readonly ParamBinding[] }
  | { readonly kind: "mismatch"; readonly reply: Reply };

/** @param isDoubted the server has refused the known schema of the tool, so it is read anew. */
export async function judgeParamHeaders(
  { message, headers, toolFacts }: InboundModern,
  isDoubted: boolean,
): Promise<ParamHeaderVerdict> {
  const { name, arguments: args } = message.params ?? {};
  // Without a schema the call still goes out: the server judges it itself.
  if (typeof name !== "string") return { kind: "fits", bindings: [] };
  for (let isAnew = isDoubted; ; isAnew = true) {
    const { bindings = [] } = (await toolFacts(name, isAnew)) ?? {};
    const problem = checkParamHeaders(bindings, headers, args);
    if (problem === undefined) return { kind: "fits", bindings };
    // The client may have a newer list than ours.
    if (isAnew) return { kind: "mismatch", reply: errorReply(ErrorCode.HeaderMismatch, problem) };
  }
}
