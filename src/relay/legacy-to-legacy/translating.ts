/**
 * Legacy client, legacy server of a newer revision: what the server says is put in the words of the
 * client's. Mostly the two have agreed on one, and nothing changes; but servers may answer
 * `initialize` with another, and some use what is newer than what they agreed to.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import { rephrase } from "../../protocol/revisions/ask-legacy-client.ts";
import { toLegacyResult } from "../../protocol/revisions/to-legacy-result.ts";
import type { LegacyReader } from "../../protocol/revisions/tool.ts";
import { toLegacyNotice } from "../../protocol/revisions/translate-notices.ts";

/**
 * The client, as the server speaks to it: on the stream of a request, or of what belongs to none.
 * What the client has not declared it refuses by itself; only what it could not even read is
 * refused here.
 */
export function translatingPeer(peer: Peer, revision: LegacyRevision): Peer {
  return {
    notify(notice, ticket): Promise<void> {
      const told = toLegacyNotice(notice, revision);
      return told === undefined ? Promise.resolve() : peer.notify(told, ticket);
    },
    ask(question: Call, withdrawn, ticket, brought): Promise<Reply> {
      const asked = rephrase(question, revision, () => crypto.randomUUID());
      if (asked.kind === "ask") return peer.ask(asked.call, withdrawn, ticket, brought);
      const message = `The client's revision ${revision} has no ${asked.lacking}`;
      return Promise.resolve(errorReply(ErrorCode.InvalidParams, message));
    },
    routed: (ticket) => peer.routed?.(ticket),
    primed: (ticket) => peer.primed?.(ticket),
    released: () => peer.released?.(),
  };
}

/** @param method of the request; after a restart it is not known. */
export function translatedReply(
  reply: Reply,
  { revision, hasTasks }: Omit<LegacyReader, "era">,
  method: string | undefined,
): Reply {
  if ("error" in reply) return reply;
  const reader = { revision, era: "legacy", hasTasks } as const;
  const { result } = reply;
  return { result: toLegacyResult(method ?? methodOf(result), result, reader) };
}

/** Nothing else has these members, and nothing else is changed by more than a client can bear. */
function methodOf(result: JsonObject): string {
  if (Array.isArray(result["tools"])) return "tools/list";
  if (Array.isArray(result["messages"])) return "prompts/get";
  return "content" in result || "structuredContent" in result ? "tools/call" : "";
}
