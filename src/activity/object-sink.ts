/**
 * The calls that end in a Durable Object, on their way to the objects that keep them. A call that ends with an answer
 * goes with it to the Worker, which sends the calls of all sessions together. The others, of streams, are sent from here. A
 * timer that waits for more would keep the object in memory, where it is paid for: so a call is sent right after its last
 * event, unless there are many, and what is left then waits for the object's alarm. Calls that end while others are sent go
 * together.
 */

import { TokenBucket } from "../lib/token-bucket.ts";
import type { CallRecord, CallSink } from "../observability/call-record.ts";
import type { CallQueue } from "./call-queue.ts";

/** A minute's worth at once, and then one a second. */
const SENDS_PER_MINUTE = 60;

interface ObjectSinkParts {
  readonly queue: CallQueue;
  /** Has `flush` called at this time, in milliseconds since 1970, or before. */
  readonly scheduleAlarm: (at: number) => void;
  readonly now: () => number;
}

export class ObjectSink implements CallSink {
  readonly #parts: ObjectSinkParts;
  readonly #sends: TokenBucket;
  #isSending = false;

  constructor(parts: ObjectSinkParts) {
    this.#parts = parts;
    this.#sends = new TokenBucket(SENDS_PER_MINUTE, parts.now);
  }

  record(record: CallRecord, waitUntil: (promise: Promise<unknown>) => void): void {
    this.#parts.queue.add(record);
    if (this.#isSending) return;
    this.#isSending = true;
    waitUntil(this.#send());
  }

  /** @returns the calls that have ended and were not sent, for the Worker that gets an answer now. */
  handOver(): readonly CallRecord[] {
    return this.#parts.queue.take();
  }

  /** Sends what is left, whatever was sent before. */
  flush(): Promise<void> {
    return this.#parts.queue.flush();
  }

  async #send(): Promise<void> {
    const { queue } = this.#parts;
    // The answer goes first, and takes what it can: this timer fires as soon as it may.
    await new Promise((resolve) => setTimeout(resolve));
    let isDue = !queue.isEmpty;
    while (isDue && this.#sends.take()) {
      await queue.flush();
      isDue = queue.hasCalls;
    }
    this.#isSending = false;
    if (isDue) this.#sendLater();
  }

  #sendLater(): void {
    const { now, scheduleAlarm } = this.#parts;
    scheduleAlarm(now() + this.#sends.waitMs);
  }
}
