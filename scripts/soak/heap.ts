/** The heap of a Worker after a collection. */

import { withInspector } from "../../bench/machinery/inspector.ts";

/**
 * @param inspector host and port.
 * @param worker the name of the Worker.
 * @returns bytes in use by its isolate, its Durable Objects included.
 */
export function collectedHeap(inspector: string, worker: string): Promise<number> {
  return withInspector<{ readonly usedSize?: number }, number>(inspector, worker, async (ask) => {
    // Objects that a finalizer releases are collected the second time.
    await ask("HeapProfiler.collectGarbage");
    await ask("HeapProfiler.collectGarbage");
    const usage = await ask("Runtime.getHeapUsage");
    if (usage?.usedSize === undefined) throw new Error("The inspector did not report the heap");
    return usage.usedSize;
  });
}
