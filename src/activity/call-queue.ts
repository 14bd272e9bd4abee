/**
 * Calls on their way to the objects that keep them. It has a bound: calls beyond it are not listed, but
 * counted, and lists say how many they lack.
 */

import type { CallBatch } from "./activity-shard.ts";
import type { CallRecord } from "../observability/call-record.ts";
import { personOf, writeCall } from "./call.ts";
import { activityShard } from "./shards.ts";
import type { UnlistedCalls } from "./unlisted-calls.ts";

/** In the memory of an isolate: half a megabyte. */
export const MAX_QUEUED = 1000;
/** A batch becomes one row, which the platform bounds to two megabytes. */
const MAX_BATCH = 400;
/** Beyond so many people, those whose calls are not listed are not kept apart. */
const MAX_UNLISTED = 200;
const MINUTE_MS = 60_000;

/** Rejects when the object cannot be reached. */
export type SendBatch = (shard: string, batch: CallBatch) => Promise<void>;

export class CallQueue {
  readonly #send: SendBatch;
  #calls: CallRecord[] = [];
  /** By minute and person. */
  #unlisted = new Map<string, UnlistedCalls>();

  constructor(send: SendBatch) {
    this.#send = send;
  }

  add(call: CallRecord): void {
    if (this.#calls.length < MAX_QUEUED) this.#calls.push(call);
    else this.#miss(call);
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0 && this.#unlisted.size === 0;
  }

  /** @returns what is queued, for another queue. */
  take(): readonly CallRecord[] {
    const calls = this.#calls;
    if (calls.length > 0) this.#calls = [];
    return calls;
  }

  /** Sends all that is queued now. Never rejects: what does not arrive is not listed. */
  async flush(): Promise<void> {
    const byShard = Map.groupBy(this.#calls, (call) => activityShard(personOf(call)));
    const unlisted = Map.groupBy(this.#unlisted.values(), ({ person }) => activityShard(person));
    this.#calls = [];
    this.#unlisted = new Map();
    const shards = new Set([...byShard.keys(), ...unlisted.keys()]);
    await Promise.all(
      Array.from(shards, (shard) =>
        this.#sendTo(shard, byShard.get(shard) ?? [], unlisted.get(shard) ?? []),
      ),
    );
  }

  async #sendTo(
    shard: string,
    calls: readonly CallRecord[],
    unlisted: readonly UnlistedCalls[],
  ): Promise<void> {
    for (let from = 0; from === 0 || from < calls.length; from += MAX_BATCH) {
      const some = calls.slice(from, from + MAX_BATCH);
      const missing = from === 0 ? unlisted : [];
      try {
        await this.#send(shard, {
          lines: some.map(writeCall),
          latest: some.reduce((latest, { at }) => Math.max(latest, at), 0),
          unlisted: missing,
        });
      } catch {
        // Nobody waits for it, and to keep it for another try would take the room of what comes next.
        for (const call of some) this.#miss(call);
        for (const each of missing) this.#note(each);
      }
    }
  }

  #miss(call: CallRecord): void {
    const { at } = call;
    this.#note({ minute: at - (at % MINUTE_MS), person: personOf(call), calls: 1 });
  }

  #note({ minute, person, calls }: UnlistedCalls): void {
    const isKnown = this.#unlisted.has(`${minute} ${person}`);
    const whose = isKnown || this.#unlisted.size < MAX_UNLISTED ? person : "";
    const key = `${minute} ${whose}`;
    const before = this.#unlisted.get(key)?.calls ?? 0;
    this.#unlisted.set(key, { minute, person: whose, calls: before + calls });
  }
}
