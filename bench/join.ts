/** Results of the same participants, one after the other, as one result of more rounds. Pure. */

import type { Result } from "./row.ts";
import type { Measured } from "./turns.ts";

/** Those that were measured in several passes: of each row and variant, one. */
export function joinPasses(results: readonly Result[]): readonly Result[] {
  const byName = new Map<string, Result>();
  for (const result of results) {
    const name = `${result.row}, ${result.variant}`;
    const before = byName.get(name);
    byName.set(name, before === undefined ? result : join(before, result));
  }
  return [...byName.values()];
}

/** @throws Error when they are not of the same participants. */
export function join(first: Result, second: Result): Result {
  const measured = joinMeasured(first.measured, second.measured);
  if (first.ceiling === undefined || second.ceiling === undefined) return { ...first, measured };
  const [ceiling = first.ceiling] = joinMeasured([first.ceiling], [second.ceiling]);
  return { ...first, measured, ceiling };
}

function joinMeasured(first: readonly Measured[], second: readonly Measured[]): Measured[] {
  return first.map(({ name, samples }, index) => {
    const other = second[index];
    if (other?.name !== name) throw new Error(`${name} was measured once, and once not`);
    return { name, samples: [...samples, ...other.samples] };
  });
}
