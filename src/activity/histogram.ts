/**
 * How long calls took, as counts in buckets: those of many objects and days add up, and percentiles are
 * read from the sum. They are upper bounds of a bucket, and never exact.
 */

/**
 * The bounds in milliseconds, each inclusive: those of `mcp.server.operation.duration` in the semantic
 * conventions of OpenTelemetry. What takes longer is in one more bucket.
 */
export const BOUNDS_MS = [
  ...[10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
  ...[30_000, 60_000, 120_000, 300_000],
] as const;

export const BUCKETS = BOUNDS_MS.length + 1;

/** @returns the index of the bucket, 0 to `BUCKETS` - 1. */
export function bucketOf(ms: number): number {
  const found = BOUNDS_MS.findIndex((bound) => ms <= bound);
  return found === -1 ? BOUNDS_MS.length : found;
}

/**
 * @param share 0.5 for the median.
 * @returns the bound in milliseconds that so large a share of the calls kept; `Infinity` when it lies
 *   above all bounds, `undefined` without calls.
 */
export function percentile(buckets: readonly number[], share: number): number | undefined {
  const all = buckets.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let below = 0;
  for (const [index, count] of buckets.entries()) {
    below += count;
    if (below >= share * all) return BOUNDS_MS[index] ?? Infinity;
  }
  return Infinity;
}
