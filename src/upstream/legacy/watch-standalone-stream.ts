/**
 * Watches the standalone GET stream of a legacy session on behalf of the session's holder. The watch
 * runs where the client's own stream is held, so that the holder can sleep meanwhile.
 */

import type { JsonObject, Parsed } from "../../protocol/json-rpc.ts";
import { isLegacyRevision, type LegacyRevision } from "../../protocol/revisions.ts";
import type { UpstreamTarget } from "../target.ts";
import { StreamableHttpWire } from "./streamable-http-wire.ts";
import type { StandaloneStreamListener } from "./wire.ts";

/** The upstream session to watch, and the last event of it that was received. Plain data. */
export interface StandaloneWatchRequest {
  readonly sessionId?: string;
  /** The account of the session. */
  readonly accountId?: string;
  readonly revision: LegacyRevision;
  readonly lastEventId?: string;
  /** The `targetHash` of the server where the session is; absent in a request of an earlier version. */
  readonly targetHash?: string;
}

/** A message that a watch received. Plain data. */
export interface WatchedMessage {
  /** Absent when only the place to resume from is new. */
  readonly parsed?: Parsed;
  readonly lastEventId?: string;
  /** The session that is watched, at a server with sessions. */
  readonly sessionId?: string;
  /** The stream broke and does not go on where it did, so messages may have been missed. */
  readonly hasMissed?: true;
  /** Sent before, without a confirmation that it arrived. */
  readonly isRepeated?: true;
  /** The resume tokens of the last messages that are known to have arrived, if it is repeated. */
  readonly known?: readonly string[];
}

/**
 * Reads a watch request that has travelled as plain data.
 *
 * @returns `undefined` without a legacy revision.
 */
export function readStandaloneWatchRequest(value: JsonObject): StandaloneWatchRequest | undefined {
  const { sessionId, accountId, revision, lastEventId, targetHash } = value;
  if (!isLegacyRevision(revision)) return undefined;
  return {
    revision,
    ...(typeof sessionId === "string" ? { sessionId } : {}),
    ...(typeof accountId === "string" ? { accountId } : {}),
    ...(typeof lastEventId === "string" ? { lastEventId } : {}),
    ...(typeof targetHash === "string" ? { targetHash } : {}),
  };
}

/** @returns a function that stops the watch. */
export function watchStandaloneStream(
  target: UpstreamTarget,
  { lastEventId, targetHash: _hash, ...session }: StandaloneWatchRequest,
  listener: StandaloneStreamListener,
): () => void {
  const wire = new StreamableHttpWire(target, session);
  wire.listen(listener, lastEventId);
  return () => wire.unlisten();
}
