/**
 * The five revisions and the changes of each on the wire. Revision strings are ISO dates, so
 * plain string comparison orders them.
 */

export const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
export const MODERN_REVISIONS = ["2026-07-28"] as const;

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type ModernRevision = (typeof MODERN_REVISIONS)[number];
export type Revision = LegacyRevision | ModernRevision;
export type Era = "legacy" | "modern";

export const LATEST_LEGACY: LegacyRevision = "2025-11-25";
export const LATEST_MODERN: ModernRevision = "2026-07-28";

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return (LEGACY_REVISIONS as readonly unknown[]).includes(value);
}

export function isModernRevision(value: unknown): value is ModernRevision {
  return (MODERN_REVISIONS as readonly unknown[]).includes(value);
}

export function eraOf(revision: Revision): Era {
  return isModernRevision(revision) ? "modern" : "legacy";
}

/** True for 2026-07-28 and every later date, also one that Edgeway does not speak yet. */
export function claimsModernEra(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && value >= LATEST_MODERN;
}

/**
 * The revision for the answer to `initialize`: the requested one if it is a served legacy revision,
 * else the newest legacy one. 2026-07-28 is never offered: it has no `initialize`.
 */
export function negotiate(requested: unknown): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY;
}

/** Batches: receiving them is a MUST of 2025-03-26 alone; 2025-06-18 removed them. */
export function allowsBatches(revision: LegacyRevision): boolean {
  return revision === "2025-03-26";
}

/**
 * True when a stream may have priming events (empty data) and `retry`: clients older than
 * 2025-11-25 parse the empty data as JSON and fail.
 */
export function allowsPriming(revision: LegacyRevision): boolean {
  return revision >= "2025-11-25";
}
