/** Records of calls, and a place that batches are sent to. */

import type { CallBatch } from "../../../src/activity/activity-shard.ts";
import { CallQueue } from "../../../src/activity/call-queue.ts";
import { readCall } from "../../../src/activity/call.ts";
import type { CallRecord } from "../../../src/observability/call-record.ts";

export function record(more: Partial<CallRecord> = {}): CallRecord {
  return {
    ...{ at: 60_000, principal: "ann.c", person: "ann", server: "docs", method: "tools/call" },
    ...{ name: "find", outcome: "ok", ms: 7, requestBytes: 1, resultBytes: 2 },
    ...more,
  };
}

/** Batches as they were sent; `isDown` has them fail. */
export class Outpost {
  readonly batches: CallBatch[] = [];
  readonly queue = new CallQueue(async (_, batch) => {
    await this.gate;
    if (this.isDown) throw new Error("The object is out of reach");
    this.batches.push(batch);
  });
  isDown = false;
  gate: Promise<void> | undefined;

  get names(): readonly string[] {
    return this.batches.flatMap(({ lines }) => lines.map((line) => readCall(line)?.name ?? "?"));
  }

  get unlisted(): number {
    return this.batches
      .flatMap(({ unlisted }) => unlisted)
      .reduce((sum, { calls }) => sum + calls, 0);
  }
}
