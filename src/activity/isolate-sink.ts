/** Sends the calls of an isolate to the objects that keep them: together, a second after the first of them. */

import { sleep } from "../lib/sleep.ts";
import type { CallSink } from "../observability/call-record.ts";
import type { CallQueue } from "./call-queue.ts";

const BATCH_MS = 1000;
/** The platform may end the request that was to send: after this, another one does. */
const GRACE_MS = 5000;

/** @param now milliseconds since 1970. */
export function isolateSink(queue: CallQueue, now: () => number = () => Date.now()): CallSink {
  let sendsBy = 0;
  const sendLater = async (): Promise<void> => {
    await sleep(BATCH_MS);
    sendsBy = 0;
    await queue.flush();
  };
  return {
    record(record, waitUntil) {
      queue.add(record);
      if (now() < sendsBy) return;
      sendsBy = now() + BATCH_MS + GRACE_MS;
      waitUntil(sendLater());
    },
  };
}
