/**
 * One point in Workers Analytics Engine for each call, if the gateway has the binding `ANALYTICS`. The columns
 * are in `docs/operations.md`. A point has no text that a client or a server can make up: their number has to
 * stay bounded, and none of them may hold a secret.
 */

import { isServed } from "../protocol/methods.ts";
import { type CallRecord, type CallSink, OTHER } from "./call-record.ts";
import { boundTool, errorType } from "./spans.ts";

/** The part of the binding that is used. */
export interface Dataset {
  writeDataPoint(point: {
    readonly indexes: readonly string[];
    readonly blobs: readonly string[];
    readonly doubles: readonly number[];
  }): void;
}

export function analyticsSink(dataset: Dataset): CallSink {
  return { record: (record) => dataset.writeDataPoint(pointOf(record)) };
}

function pointOf(record: CallRecord): Parameters<Dataset["writeDataPoint"]>[0] {
  const { server, outcome, client, clientEra = "", serverEra = "", effect = "" } = record;
  const { ms, upstreamMs = 0, requestBytes, resultBytes } = record;
  return {
    indexes: [server],
    blobs: [
      boundMethod(record),
      record.method === "tools/call" ? boundTool(record) : "",
      outcome,
      errorType(outcome) ?? "",
      client === "console" ? "console" : "application",
      clientEra,
      serverEra,
      effect,
    ],
    doubles: [ms, upstreamMs, requestBytes, resultBytes],
  };
}

function boundMethod({ method }: CallRecord): string {
  return isServed(method, "legacy") || isServed(method, "modern") ? method : OTHER;
}
