/** The log line of a call. Parameters and results are in no line. */

import type { CallRecord } from "./call-record.ts";

export function callLine(record: CallRecord): void {
  const { principal, method, name, server, ms, outcome, requestBytes, resultBytes } = record;
  const { effect, clientName, clientEra, serverEra, upstreamMs, traceId } = record;
  const line = {
    event: "call",
    ...{ principal, method, name, server, ms, outcome, requestBytes, resultBytes },
    ...{ effect, clientName, clientEra, serverEra, upstreamMs, traceId },
  };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.log(JSON.stringify(line));
}
