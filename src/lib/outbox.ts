/**
 * Delivers until acknowledged. Each recipient gets one batch at a time, in order, and no recipient waits
 * for another. What was not acknowledged stays in the rows, and is delivered again after a pause. An
 * outbox has no state of its own but the deliveries under way: a new one over the same rows goes on.
 */

import { type Backoff, pauseMs } from "./backoff.ts";

/** The batches that wait for each recipient, and when the recipient is due. */
export interface OutboxRows<Recipient, Batch> {
  /** @returns the oldest batch: the same until it is acknowledged, less what was withdrawn from it. */
  next(recipient: Recipient): Batch | undefined;
  acknowledged(recipient: Recipient, batch: Batch): void;
  /** Deliveries to the recipient begin: it is not due meanwhile. */
  trying(recipient: Recipient): void;
  /** The batch was not acknowledged: the recipient is due again after a pause. */
  failed(recipient: Recipient, batch: Batch): void;
  /** @returns the recipients that are due now. They may be read with pauses in between. */
  due(): Iterable<Recipient>;
  /** @returns the time at which the next recipient is due, in milliseconds since 1970. */
  soonest(): number | undefined;
}

export interface OutboxOptions<Recipient, Batch> {
  readonly rows: OutboxRows<Recipient, Batch>;
  /** @returns whether the recipient has acknowledged the batch. A rejection counts as `false`. */
  readonly deliver: (recipient: Recipient, batch: Batch) => Promise<boolean>;
  /** Called when a batch was not acknowledged: `soonest` may have changed. */
  readonly onFailed?: () => void;
  /** Waits for a place for one more recipient that is due. @returns a function that gives it back. */
  readonly place?: () => Promise<() => void>;
}

export class Outbox<Recipient, Batch> {
  readonly #options: OutboxOptions<Recipient, Batch>;
  readonly #busy = new Set<Recipient>();
  #isStarting = false;

  constructor(options: OutboxOptions<Recipient, Batch>) {
    this.#options = options;
  }

  /** @returns whether deliveries to the recipient are under way. */
  isBusy(recipient: Recipient): boolean {
    return this.#busy.has(recipient);
  }

  /** Delivers to every recipient that is due. Rejects only if the rows throw. */
  async deliverDue(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    const { rows, place } = this.#options;
    const deliveries: Promise<void>[] = [];
    try {
      for (const recipient of rows.due()) {
        if (this.#busy.has(recipient)) continue;
        const release = place === undefined ? undefined : await place();
        deliveries.push(this.deliverTo(recipient).finally(release));
      }
    } finally {
      this.#isStarting = false;
    }
    await Promise.all(deliveries);
  }

  /** Delivers to one recipient until nothing waits for it, or a batch is not acknowledged. */
  async deliverTo(recipient: Recipient): Promise<void> {
    if (this.#busy.has(recipient)) return;
    const { rows, deliver, onFailed } = this.#options;
    this.#busy.add(recipient);
    try {
      rows.trying(recipient);
      for (let batch = rows.next(recipient); batch !== undefined; batch = rows.next(recipient)) {
        const isAcknowledged = await deliver(recipient, batch).catch(() => false);
        if (!isAcknowledged) {
          rows.failed(recipient, batch);
          onFailed?.();
          return;
        }
        rows.acknowledged(recipient, batch);
      }
    } finally {
      this.#busy.delete(recipient);
    }
  }
}

/** A batch of the rows in memory: its number stays the same when it is delivered again. */
export interface NumberedItems<Item> {
  readonly number: number;
  readonly items: readonly Item[];
}

interface Queue<Item> {
  waiting: Set<Item>;
  /** The batch that is delivered, or to be delivered again: the recipient may have it already. */
  batch: Set<Item>;
  number: number;
  failures: number;
  /** When it is due; `Infinity` while deliveries are under way. */
  at: number;
}

export interface MemoryRowsOptions {
  readonly backoff: Backoff;
  /** @returns the number of the next batch. */
  readonly nextNumber: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Rows in memory, of a bounded size: an item waits once for each recipient, however often it is appended. */
export class MemoryRows<Recipient, Item> implements OutboxRows<Recipient, NumberedItems<Item>> {
  readonly #options: MemoryRowsOptions;
  readonly #queues = new Map<Recipient, Queue<Item>>();

  constructor(options: MemoryRowsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  append(recipient: Recipient, item: Item): void {
    const queue = this.#queues.get(recipient);
    if (queue !== undefined) queue.waiting.add(item);
    else {
      const at = this.#options.now();
      const waiting = new Set([item]);
      this.#queues.set(recipient, { waiting, batch: new Set(), number: 0, failures: 0, at });
    }
  }

  /** The recipient does not want the item any more. A delivery that is under way cannot be taken back. */
  withdraw(recipient: Recipient, item: Item): void {
    const queue = this.#queues.get(recipient);
    queue?.waiting.delete(item);
    queue?.batch.delete(item);
    if (queue?.at !== Infinity) this.#dropIfEmpty(recipient);
  }

  next(recipient: Recipient): NumberedItems<Item> | undefined {
    const queue = this.#queues.get(recipient);
    if (queue === undefined || this.#dropIfEmpty(recipient)) return undefined;
    if (queue.batch.size === 0) {
      queue.batch = queue.waiting;
      queue.waiting = new Set();
      queue.number = this.#options.nextNumber();
    }
    return { number: queue.number, items: [...queue.batch] };
  }

  acknowledged(recipient: Recipient): void {
    const queue = this.#queues.get(recipient);
    if (queue === undefined) return;
    queue.batch.clear();
    queue.failures = 0;
  }

  trying(recipient: Recipient): void {
    const queue = this.#queues.get(recipient);
    if (queue !== undefined) queue.at = Infinity;
  }

  failed(recipient: Recipient): void {
    const queue = this.#queues.get(recipient);
    if (queue === undefined || this.#dropIfEmpty(recipient)) return;
    const { backoff, now } = this.#options;
    queue.at = now() + pauseMs(backoff, queue.failures);
    queue.failures += 1;
  }

  *due(): Generator<Recipient, void, void> {
    for (const [recipient, { at }] of this.#queues) {
      if (at <= this.#options.now()) yield recipient;
    }
  }

  soonest(): number | undefined {
    let soonest = Infinity;
    for (const { at } of this.#queues.values()) soonest = Math.min(soonest, at);
    return soonest === Infinity ? undefined : soonest;
  }

  #dropIfEmpty(recipient: Recipient): boolean {
    const queue = this.#queues.get(recipient);
    if (queue === undefined || queue.waiting.size + queue.batch.size > 0) return false;
    return this.#queues.delete(recipient);
  }
}
