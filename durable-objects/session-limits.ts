/** The limits of a session and of its log, in the units of their use. */

import type { LogLimits } from "../src/sessions/log/stream-index.ts";
import type { Limits } from "../src/policy/limits.ts";
import type { SessionLimits } from "../src/sessions/core.ts";

const MINUTE_MS = 60_000;

export function sessionLimits(limits: Limits): SessionLimits {
  return {
    stallMs: limits.stallSeconds * 1000,
    quietMs: limits.quietSeconds * 1000,
    lingerMs: limits.lingerSeconds * 1000,
    maxOpenStreams: limits.openStreamsPerSession,
    askTimeoutMs: limits.askSeconds * 1000,
    maxInFlight: limits.requestsInFlightPerSession,
    streamAfterMs: limits.streamAfterSeconds * 1000,
    holdMs: limits.holdSeconds * 1000,
  };
}

/** Characters stand for bytes: JSON is mostly ASCII, and counting them costs nothing. */
export function logLimits(limits: Limits): LogLimits {
  return {
    maxEventsPerStream: limits.keptEventsPerStream,
    maxCharsPerStream: limits.keptBytesPerStream,
    maxCharsPerSession: limits.keptBytesPerSession,
    maxStreams: limits.keptStreamsPerSession,
    retentionMs: limits.retentionMinutes * MINUTE_MS,
  };
}
