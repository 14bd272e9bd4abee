/** What takes the records of calls, beside the log, by the bindings that the gateway has. */

import { analyticsSink, type Dataset } from "../src/observability/analytics.ts";
import type { CallSink } from "../src/observability/call-record.ts";

/** @returns `undefined` when nothing does: then nothing is made for it. */
export function callSinksIn({
  ANALYTICS,
}: Pick<Env, "ANALYTICS">): readonly CallSink[] | undefined {
  return isDataset(ANALYTICS) ? [analyticsSink(ANALYTICS)] : undefined;
}

function isDataset(value: unknown): value is Dataset {
  return typeof value === "object" && value !== null && "writeDataPoint" in value;
}
