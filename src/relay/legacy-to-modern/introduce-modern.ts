/** The introduction of a modern server to a legacy client, made from its discovery. */

import { completeModernResult } from "../../protocol/modern-result.ts";
import { legacyClientToModernServer } from "../../protocol/revisions/translate-capabilities.ts";
import { introducedTo } from "../../protocol/revisions/introductions.ts";
import type { Opening } from "../../sessions/dispatch.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import { sendModern } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { failureReply, UpstreamError } from "../../upstream/upstream-error.ts";

const METHOD = "server/discover";

/** @returns an error for the client when the server cannot be reached or its discovery is invalid. */
export async function introduceModern(
  target: UpstreamTarget,
  client: LegacyClient,
): Promise<Opening> {
  const { slug } = target;
  try {
    const { reply } = await sendModern(target, {
      call: { method: METHOD, params: {} },
      clientCapabilities: legacyClientToModernServer(client),
      clientInfo: client.clientInfo,
    });
    if ("error" in reply) {
      const sentence = `answered ${METHOD} with error ${reply.error.code}`;
      throw new UpstreamError(slug, "malformed", sentence);
    }
    if (completeModernResult(METHOD, reply.result)?.["resultType"] !== "complete") {
      throw new UpstreamError(slug, "malformed", `answered ${METHOD} with a wrong type of result`);
    }
    return introducedTo(client.revision, reply.result, slug);
  } catch (error) {
    const reply = failureReply(error, slug);
    if ("error" in reply) return reply;
    throw error;
  }
}
