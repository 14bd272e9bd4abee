/** Translates the notifications of a server for a client of another revision or era. */

import { isChangeNotice, SUBSCRIPTIONS_ACKNOWLEDGED } from "../change-notices.ts";
import type { Call } from "../exchange.ts";
import type { LegacyRevision } from "../revisions.ts";
import { withoutEnvelope, withoutEnvelopeAndTasks } from "./reserved-meta.ts";

/** Notifications that only 2025-11-25 has. */
const OF_2025_11_25: ReadonlySet<string> = new Set([
  ...["notifications/elicitation/complete", "notifications/tasks/status"],
]);
/** Notifications of subscription streams, or for one hop only. */
const OF_THE_MODERN_WIRE: ReadonlySet<string> = new Set([
  ...[SUBSCRIPTIONS_ACKNOWLEDGED, "notifications/cancelled", "notifications/tasks"],
]);

/** @returns `undefined` for a notification that this revision does not have. */
export function toLegacyNotice(
  { method, params }: Call,
  revision: LegacyRevision,
): Call | undefined {
  if (OF_THE_MODERN_WIRE.has(method)) return undefined;
  if (revision < "2025-11-25" && OF_2025_11_25.has(method)) return undefined;
  return params === undefined ? { method } : { method, params: withoutEnvelope(params) };
}

/** @returns `undefined` for a notification that a modern client does not get, or not on this stream. */
export function toModernNotice({ method, params }: Call): Call | undefined {
  if (OF_2025_11_25.has(method) || isChangeNotice(method)) return undefined;
  return params === undefined ? { method } : { method, params: withoutEnvelopeAndTasks(params) };
}
