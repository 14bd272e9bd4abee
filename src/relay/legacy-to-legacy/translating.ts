/**
 * Legacy client, legacy server of a newer revision: the server's messages are translated to the
 * client's revision. Mostly both have agreed on one and nothing changes; but servers may answer
 * `initialize` with another, and some use members that are newer than the agreed revision.
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
 * A peer that translates for its client, for the stream of a request or the standalone stream. The
 * client itself refuses what it has not declared; only a question that its revision cannot express
 * is refused here.
 */
export function translatingPeer(peer: Peer, revision: LegacyRevision): Peer {
  return {
    notify(notice, resumeToken): Promise<void> {
      const translated = toLegacyNotice(notice, revision);
      return translated === undefined ? Promise.resolve() : peer.notify(translated, resumeToken);
    },
    ask(question: Call, withdrawn, resumeToken, brought): Promise<Reply> {
      const asked = rephrase(question, revision, () => crypto.randomUUID());
      if (asked.kind === "ask") return peer.ask(asked.call, withdrawn, resumeToken, brought);
      const message = `The client's revision ${revision} has no ${asked.lacking}`;
      return Promise.resolve(errorReply(ErrorCode.InvalidParams, message));
    },
    routed: (resumeToken) => peer.routed?.(resumeToken),
    primed: (resumeToken) => peer.primed?.(resumeToken),
    released: () => peer.released?.(),
  };
}

/** @param method of the request; unknown after a restart. */
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

/** Recognises the methods whose results are translated, by members that no other result has. */
function methodOf(result: JsonObject): string {
  if (Array.isArray(result["tools"])) return "tools/list";
  if (Array.isArray(result["messages"])) return "prompts/get";
  return "content" in result || "structuredContent" in result ? "tools/call" : "";
}
