/**
 * Watches what a legacy session's server says of itself, on behalf of whoever holds the session.
 * It runs where the client's own stream is held, so that the holder can sleep meanwhile.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import { isLegacyRevision, type LegacyRevision } from "../../protocol/revisions.ts";
import type { UpstreamTarget } from "../target.ts";
import { StreamableHttpWire } from "./streamable-http-wire.ts";
import type { StandaloneStreamListener } from "./wire.ts";

/** What to watch: an upstream session, and the last event of it that is known. Plain data. */
export interface StandaloneWatchRequest {
  readonly sessionId?: string;
  readonly revision: LegacyRevision;
  readonly lastEventId?: string;
}

/** Reads an order that has travelled as plain data. */
export function readStandaloneWatchRequest(value: JsonObject): StandaloneWatchRequest | undefined {
  const { sessionId, revision, lastEventId } = value;
  if (!isLegacyRevision(revision)) return undefined;
  return {
    revision,
    ...(typeof sessionId === "string" ? { sessionId } : {}),
    ...(typeof lastEventId === "string" ? { lastEventId } : {}),
  };
}

/** @returns what stops it. */
export function watchStandaloneStream(
  target: UpstreamTarget,
  { sessionId, revision, lastEventId }: StandaloneWatchRequest,
  listener: StandaloneStreamListener,
): () => void {
  const wire = new StreamableHttpWire(target, sessionId, revision);
  wire.listen(listener, lastEventId);
  return () => wire.unlisten();
}
