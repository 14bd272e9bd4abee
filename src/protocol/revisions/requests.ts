/** A client's request for a server of the other era: without what means nothing there. */

import type { Call } from "../exchange.ts";
import { withoutBaggage, withoutEnvelope, withoutEnvelopeAndTasks } from "./reserved-meta.ts";

/**
 * For a modern server. A task that was asked for is none: the call is run as any other, as it is by
 * every server that has not offered tasks (2025-11-25, tasks: MUST ignore).
 */
export function toModernRequest({ method, params }: Call): Call {
  if (params === undefined) return { method };
  const { task: _, ...rest } = withoutRounds(withoutEnvelopeAndTasks(params));
  return { method, params: rest };
}

/** For a legacy server: it has one round, and what the request says of itself was said at its start. */
export function toLegacyRequest({ method, params }: Call): Call {
  return params === undefined
    ? { method }
    : { method, params: withoutRounds(withoutBaggage(withoutEnvelope(params))) };
}

/** What belongs to the rounds of 2026-07-28 is the gateway's to say here. */
function withoutRounds(params: NonNullable<Call["params"]>): NonNullable<Call["params"]> {
  const { inputResponses: _, requestState: __, ...rest } = params;
  return rest;
}
