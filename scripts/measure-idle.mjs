/**
 * The memory that an idle stream takes in its isolate, of which the platform gives 128 MiB. The inspector
 * tells it from the memory of the process, which has the connections and databases of all objects in it.
 */

import { withInspector } from "../bench/machinery/inspector.ts";
import { openSession } from "./measure-post.mjs";

const STREAMS = 200;
/** What the first streams load stays. */
const FIRST_STREAMS = 10;
/** Garbage that holds other garbage is collected in turns. */
const COLLECTIONS = 3;
/** Time for the sessions to hand their watch over, and for the platform to let their objects go. */
const FALL_ASLEEP_MS = 20_000;
const KIB = 1024;

/**
 * @typedef {{ usedSize: number, embedderHeapUsedSize: number, backingStorageSize: number }} Heap
 * @param {() => Promise<{ origin: string, inspector: string, stop: () => unknown }>} start
 * @param {string} worker the name of the Worker.
 * @returns {Promise<readonly (readonly [name: string, kib: number])[]>}
 */
export async function measureIdleStreams(start, worker) {
  const { origin, inspector, stop } = await start();
  const hangUp = new AbortController();
  const heap = () => heapBytes(inspector, worker);
  try {
    await openStreams(origin, FIRST_STREAMS, hangUp.signal);
    const before = await heap();
    await openStreams(origin, STREAMS, hangUp.signal);
    const awake = ((await heap()) - before) / STREAMS;
    await new Promise((resolve) => setTimeout(resolve, FALL_ASLEEP_MS));
    const asleep = ((await heap()) - before) / STREAMS;
    return [
      ["Heap of the isolate at rest", before / KIB],
      [`Heap of an idle stream, of ${STREAMS}`, asleep / KIB],
      ["Heap of its session, while awake", (awake - asleep) / KIB],
    ];
  } finally {
    hangUp.abort();
    stop();
  }
}

/**
 * @param {string} origin
 * @param {number} count
 * @param {AbortSignal} signal
 */
async function openStreams(origin, count, signal) {
  for (let opened = 0; opened < count; opened++) {
    const headers = { ...(await openSession(origin)), Accept: "text/event-stream" };
    const response = await fetch(`${origin}/mcp`, { headers, signal });
    if (!response.ok) throw new Error(`A stream was refused with ${response.status}`);
    void response.body?.pipeTo(new WritableStream()).catch(() => undefined);
  }
}

/**
 * @param {string} inspector
 * @param {string} worker
 */
function heapBytes(inspector, worker) {
  return withInspector(
    inspector,
    worker,
    async (/** @type {import("../bench/machinery/inspector.ts").Ask<Heap>} */ ask) => {
      for (let run = 0; run < COLLECTIONS; run++) await ask("HeapProfiler.collectGarbage");
      const heap = await ask("Runtime.getHeapUsage");
      if (heap === undefined) throw new Error("The inspector told nothing of the heap");
      return heap.usedSize + heap.embedderHeapUsedSize + heap.backingStorageSize;
    },
  );
}
