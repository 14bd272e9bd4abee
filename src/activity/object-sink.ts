/**
 * Sends the calls that end in a Durable Object to the objects that keep them. A timer would keep the object
 * in memory, where it is paid for: so each call is sent right after its answer, unless there are many, and what is left
 * then waits for the object's alarm. Calls that end while others are sent go together.
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
    if (this.#sends.take()) waitUntil(this.#send());
    else this.#sendLater();
  }

  /** Sends what is left, whatever was sent before. */
  flush(): Promise<void> {
    return this.#parts.queue.flush();
  }

  async #send(): Promise<void> {
    const { queue } = this.#parts;
    this.#isSending = true;
    // The answer goes first: this timer fires as soon as it may.
    await new Promise((resolve) => setTimeout(resolve));
    do await queue.flush();
    while (queue.hasCalls && this.#sends.take());
    this.#isSending = false;
    if (queue.hasCalls) this.#sendLater();
  }

  #sendLater(): void {
    const { now, scheduleAlarm } = this.#parts;
    scheduleAlarm(now() + this.#sends.waitMs);
  }
}
