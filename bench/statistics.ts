/** What is said of repeated measurements: medians, since a busy machine has moods. Pure. */

export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** @throws Error when there is nothing to say anything of, or something that is no number. */
export function summarize(values: readonly number[]): Summary {
  const sorted = inOrder(values);
  const [low = 0] = sorted;
  return { median: middle(sorted), low, high: sorted.at(-1) ?? low };
}

/** The value that `share` of all are not above, by nearest rank. @param share from 0 to 1. */
export function percentile(values: readonly number[] | Float64Array, share: number): number {
  const sorted = inOrder(values);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/**
 * How ours compares with the peer's: the median of the ratios of each round, in which both ran
 * right after one another. So what slows the machine down for a while slows both.
 *
 * @throws Error when the rounds do not match, or a peer has measured nothing.
 */
export function pairedRatio(ours: readonly number[], peers: readonly number[]): number {
  if (ours.length !== peers.length) {
    throw new Error(`${ours.length} rounds cannot be paired with ${peers.length}`);
  }
  const ratios = ours.map((own, round) => own / (peers[round] ?? Number.NaN));
  return middle(inOrder(ratios));
}

/**
 * What all rounds together had of one thing for another. A round in which little could be done
 * counts little, and what seldom happens, a garbage collection, counts as often as it did.
 *
 * @throws Error when a number is missing, or there was nothing to divide by.
 */
export function sumRatio(of: readonly number[], by: readonly number[]): number {
  const ratio = sumOf(of) / sumOf(by);
  if (of.length !== by.length || !Number.isFinite(ratio)) throw new Error("That is no number");
  return ratio;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0);
}

function inOrder(values: readonly number[] | Float64Array): Float64Array {
  const sorted = Float64Array.from(values).toSorted();
  if (sorted.length === 0) throw new Error("Nothing was measured");
  if (!sorted.every((value) => Number.isFinite(value))) throw new Error("That is no number");
  return sorted;
}

function middle(sorted: Float64Array): number {
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}
