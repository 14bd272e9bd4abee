/** Removes from a client's request the members that have no meaning for a server of the other era. */

import type { Call } from "../exchange.ts";
import { withoutEnvelope, withoutEnvelopeAndTasks } from "./reserved-meta.ts";

/**
 * For a modern server. A requested task is ignored, as by every server that has
 * not offered tasks (2025-11-25, tasks: MUST ignore).
 */
export function toModernRequest({ method, params }: Call): Call {
  if (params === undefined) return { method };
  const { task: _, ...rest } = withoutRounds(withoutEnvelopeAndTasks(params));
  return { method, params: rest };
}

/** For a legacy server: it has one round, and got the envelope's facts in its handshake. */
export function toLegacyRequest({ method, params }: Call): Call {
  return params === undefined
    ? { method }
    : { method, params: withoutRounds(withoutEnvelope(params)) };
}

/** Only the gateway sets the members for the rounds of 2026-07-28 here. */
function withoutRounds(params: NonNullable<Call["params"]>): NonNullable<Call["params"]> {
  const { inputResponses: _, requestState: __, ...rest } = params;
  return rest;
}
