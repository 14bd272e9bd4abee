/**
 * The introduction of a server to a legacy client, read by a separate handshake, or by discovery from
 * a server without one, and cached for a while: opening a session here costs neither storage nor,
 * mostly, a request. The session at the server is opened with the first message that needs it.
 */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { toLegacyClient } from "../protocol/capabilities.ts";
import { nullPeer } from "../protocol/exchange.ts";
import type { Opening } from "../sessions/dispatch.ts";
import { LegacyConnection } from "../upstream/legacy/connection.ts";
import type { LegacyClient } from "../upstream/legacy/handshake.ts";
import { isModernOnly } from "../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, UpstreamError } from "../upstream/upstream-error.ts";
import { completeModernResult } from "../protocol/modern-result.ts";
import { legacyClientToModernServer } from "../protocol/revisions/translate-capabilities.ts";
import { introducedTo } from "../protocol/revisions/introductions.ts";
import { sendModern } from "../upstream/modern/send.ts";

type Introduction = Exclude<Opening, { error: unknown }>;

const DISCOVER = "server/discover";
const TEN_MINUTES_MS = 600_000;
const known = new BoundedCache<Introduction>({ maxEntries: 1000, ttlMs: TEN_MINUTES_MS });

/**
 * @param afterwards takes the work that remains when the answer is there.
 * @returns the introduction as this client may see it, or the error.
 */
export async function introduce(
  target: UpstreamTarget,
  client: LegacyClient,
  afterwards: (work: Promise<void>) => void,
): Promise<Opening> {
  // A server may answer by the client's capabilities; its name is not part of the key.
  const { revision, capabilities } = client;
  const key = JSON.stringify([
    ...[target.slug, target.endpoint, revision, capabilities],
    // What a server says of itself to one account, or to one caller that it is told of, is not for another.
    target.credentials && (await target.credentials.account()),
    target.assertion?.caller,
  ]);
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const opening = await meet(target, client, afterwards);
  if (!("error" in opening)) known.set(key, opening);
  return opening;
}

async function meet(
  target: UpstreamTarget,
  client: LegacyClient,
  afterwards: (work: Promise<void>) => void,
): Promise<Opening> {
  if (target.era === "modern") return introduceModern(target, client);
  const connection = new LegacyConnection({
    target,
    client,
    unsolicited: nullPeer("Not initialized yet"),
    save: () => undefined,
  });
  try {
    const { handshake } = await connection.open();
    return {
      capabilities: toLegacyClient(handshake.capabilities, client.revision),
      serverInfo: handshake.serverInfo,
      ...(handshake.instructions === undefined ? {} : { instructions: handshake.instructions }),
    };
  } catch (error) {
    if (await isModernOnly(error, target)) return introduceModern(target, client);
    const reply = failureReply(error, target.slug);
    if ("error" in reply) return reply;
    throw error;
  } finally {
    afterwards(connection.close());
  }
}

/**
 * The introduction of a modern server, made from its discovery.
 *
 * @returns an error for the client when the server cannot be reached or its discovery is invalid.
 */
export async function introduceModern(
  target: UpstreamTarget,
  client: LegacyClient,
): Promise<Opening> {
  const { slug } = target;
  try {
    const { reply } = await sendModern(target, {
      call: { method: DISCOVER, params: {} },
      clientCapabilities: legacyClientToModernServer(client),
      clientInfo: client.clientInfo,
    });
    if ("error" in reply) {
      const sentence = `answered ${DISCOVER} with error ${reply.error.code}`;
      throw new UpstreamError(slug, "malformed", sentence);
    }
    if (completeModernResult(DISCOVER, reply.result)?.resultType !== "complete") {
      throw new UpstreamError(
        slug,
        "malformed",
        `answered ${DISCOVER} with a wrong type of result`,
      );
    }
    return introducedTo(client.revision, reply.result, slug);
  } catch (error) {
    const reply = failureReply(error, slug);
    if ("error" in reply) return reply;
    throw error;
  }
}
