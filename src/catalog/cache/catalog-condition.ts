/** The condition of a server, as the last attempt to read its catalogs shows it. */

import type { HealthState, ServerHealth } from "../../observability/health.ts";
import type { ListFault, Trouble } from "../catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

export type Condition = Pick<ServerHealth, "state" | "trouble" | "seenAt" | "counts">;

const NOTHING: Condition["counts"] = { tools: 0, resources: 0, templates: 0, prompts: 0 };

/**
 * @param reported the report of a caller, if there was no attempt since.
 * @param isServable whether an entry has a catalog that is young enough to be shown.
 */
export function conditionOf(
  entries: readonly CatalogEntry[],
  reported: Trouble | undefined,
  isServable: (entry: CatalogEntry) => boolean,
): Condition {
  const seen = entries.filter(({ facts }) => facts !== undefined);
  const newest = seen.toSorted((a, b) => b.readAt - a.readAt)[0];
  const trouble =
    reported ?? lastTrouble(entries, newest?.readAt ?? 0) ?? faultOf(newest?.facts?.fault);
  const state = stateOf(trouble, newest !== undefined, entries.some(isServable));
  return {
    state,
    ...(trouble === undefined ? {} : { trouble }),
    ...(newest === undefined ? {} : { seenAt: newest.readAt }),
    counts: newest?.facts?.counts ?? NOTHING,
  };
}

function stateOf(
  trouble: Trouble | undefined,
  wasSeen: boolean,
  hasServable: boolean,
): HealthState {
  if (trouble === undefined) return wasSeen ? "healthy" : "unknown";
  return hasServable ? "failing" : "down";
}

/** A server that does not return all of its lists is available but not healthy. */
function faultOf(fault: ListFault | undefined): Trouble | undefined {
  if (fault === undefined) return undefined;
  const { reason, message, since } = fault;
  return { reason, message, since };
}

function lastTrouble(entries: readonly CatalogEntry[], seenAt: number): Trouble | undefined {
  const outages = entries
    .flatMap(({ outage }) => outage ?? [])
    // A server that does not speak an era is not in trouble.
    .filter(({ trouble, failedAt }) => trouble.reason !== "other-era" && failedAt >= seenAt);
  return outages.toSorted((a, b) => b.failedAt - a.failedAt)[0]?.trouble;
}
