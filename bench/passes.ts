/**
 * Rows one after the other, some of them more than once, as long as there is time. Of a row that could not be
 * measured there is no result, of none of its passes: half of it is not what was asked for.
 */

import { joinPasses } from "./join.ts";
import type { Result } from "./row.ts";
import type { RowName } from "./row-names.ts";
import type { Plan, Row } from "./rows/plan.ts";

export interface Passes {
  readonly results: readonly Result[];
  /** One sentence for each row that has no result. */
  readonly failures: readonly string[];
  /** Rows that were not measured again, since there was no time. */
  readonly notAgain: readonly RowName[];
}

/** The benchmark takes less than ten minutes: so long after its begin, no row is measured again. */
const MOST_SECONDS = 590;

/**
 * @param schedule a row that is in it several times has so many passes.
 * @param elapsed since the benchmark began, in seconds.
 */
export async function measureInPasses(
  schedule: readonly Row[],
  plan: Plan,
  elapsed: () => number,
): Promise<Passes> {
  const measured = new Map<RowName, readonly Result[]>();
  const durations = new Map<RowName, number>();
  const failures = new Map<RowName, string>();
  const notAgain: RowName[] = [];
  for (const { name, measure } of schedule) {
    if (failures.has(name)) continue;
    const begunAt = elapsed();
    const lastTook = durations.get(name);
    if (lastTook !== undefined && begunAt + lastTook > MOST_SECONDS) {
      notAgain.push(name);
      continue;
    }
    try {
      measured.set(name, [...(measured.get(name) ?? []), ...(await measure(plan))]);
      durations.set(name, elapsed() - begunAt);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.set(name, `${name}: ${reason.split("\n", 1)[0]}`);
      measured.delete(name);
      plan.say(`FAILED  ${name}: ${reason}`); // with what a program said
    }
  }
  const results = joinPasses([...measured.values()].flat());
  return { results, failures: [...failures.values()], notAgain };
}
