/** What something costs the gateway, and nothing that ran before it. */

import { type Costs, NO_COSTS, readCosts } from "../../src/observability/costs.ts";

export async function costsOf(act: () => Promise<unknown>): Promise<Costs> {
  const before = readCosts();
  await act();
  const after = readCosts();
  const names = Object.keys(NO_COSTS) as (keyof Costs)[];
  const spent = names.map((name) => [name, after[name] - before[name]] as const);
  return { ...NO_COSTS, ...Object.fromEntries(spent) };
}
