/** The replies to a legacy client when a modern server has not served its request. */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { dataOf, type ErrorObject, errorReply, type Reply } from "../../protocol/json-rpc.ts";
import type { ErrorData } from "../../protocol/message-members.ts";
import { legacyClientToModernServer } from "../../protocol/revisions/translate-capabilities.ts";
import { lackingOf } from "../../protocol/revisions/client-abilities.ts";
import { toLegacyError } from "../../protocol/revisions/errors.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";

/**
 * A model can read why its tool did not work, so a tool call gets a result; other methods get an
 * error. Its data names no failed upstream, because the server is available and knows the request.
 *
 * @param sentence the predicate of a sentence about the server.
 */
export function stuck(slug: string, method: string, sentence: string): Reply {
  const text = `Upstream "${slug}" ${sentence}`;
  return method === "tools/call"
    ? { result: { content: [{ type: "text", text }], isError: true } }
    : errorReply(ErrorCode.InternalError, text);
}

/** Errors of the modern era alone mean nothing to this client, so they are replaced. */
export function failureFor(
  slug: string,
  method: string,
  error: ErrorObject,
  client: LegacyClient,
): Reply {
  switch (error.code) {
    case ErrorCode.MissingRequiredClientCapability:
      return stuck(slug, method, `needs ${missingCapabilities(client, dataOf(error))}`);
    case ErrorCode.HeaderMismatch:
    case ErrorCode.UnsupportedProtocolVersion:
      return errorReply(
        ErrorCode.InternalError,
        `Upstream "${slug}" refused the gateway's request (error ${error.code})`,
        { upstream: slug },
      );
    default:
      return { error: toLegacyError(method, error) };
  }
}

function missingCapabilities(client: LegacyClient, data: ErrorData): string {
  const lacking = lackingOf(data.requiredCapabilities, legacyClientToModernServer(client));
  const named = lacking.length === 0 ? "something" : lacking.join(", ");
  return `${named}, which this client has not declared`;
}
