/** Results of the benchmark: of several rounds, and of one, in which the peer has nothing. */

import { REQUESTS, type Result } from "../../../bench/row.ts";
import type { Sample } from "../../../bench/turns.ts";

/** A round of half a second. */
export function rate(requests: number): Sample {
  return { requests, answered: requests / 2, seconds: 0.5 };
}

export const CALL: Result = {
  row: "call",
  variant: "16 conn.",
  metrics: [REQUESTS, { key: "p50", unit: "ms", digits: 2 }],
  measured: [
    { name: "Edgeway", samples: [1000, 1200, 1100].map((n) => ({ ...rate(n), p50: 1 })) },
    { name: "McpAgent", samples: [500, 600, 550].map((n) => ({ ...rate(n), p50: 4 })) },
  ],
  notes: [],
};
export const BILL: Result = {
  ...{ row: "bill", variant: "call", metrics: [{ key: "dollars", unit: "$", digits: 1 }] },
  measured: [
    { name: "Edgeway", samples: [{ dollars: 0.3 }] },
    { name: "McpAgent", samples: [{ dollars: 0 }] },
  ],
  notes: [],
};
