/** The revisions of the protocol, for tests that have something to say about each. */

export const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
export const MODERN_REVISION = "2026-07-28";
export const REVISIONS = [...LEGACY_REVISIONS, MODERN_REVISION] as const;

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type Revision = (typeof REVISIONS)[number];

/** Its newest revision without Streamable HTTP. */
export const OVER_SSE = "2024-11-05";
/** The first revision that has `MCP-Protocol-Version` on the requests of a session. */
export const SINCE_HEADER = "2025-06-18";

export function isLegacy(revision: Revision): revision is LegacyRevision {
  return revision !== MODERN_REVISION;
}
