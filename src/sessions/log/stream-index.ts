/**
 * The streams that a log keeps. When there is no room or the retention ends, finished streams are
 * deleted whole, the oldest first; a stream that never finishes loses its oldest events. A live stream
 * that answers a request loses nothing: its event is refused.
 */

import { type StreamMeta, streamMetaOf, keptChars, keptRows } from "./stream-meta.ts";
import type { Limits } from "../../policy/limits.ts";
import { type EventRows, STREAM_ROWS } from "./event-rows.ts";

/** Characters stand for bytes: JSON is mostly ASCII, and counting them costs nothing. */
export type LogLimits = Pick<
  Limits,
  | "keptEventsPerStream"
  | "keptBytesPerStream"
  | "keptBytesPerSession"
  | "keptStreamsPerSession"
  /** Counted from the last event of a finished stream, or from each event of one that never finishes. */
  | "retentionMinutes"
>;

const MINUTE_MS = 60_000;

export class StreamIndex {
  readonly #rows: EventRows;
  readonly #limits: LogLimits;
  readonly #heads = new Map<number, StreamMeta>();
  #lastNumber = 0;

  constructor(rows: EventRows, limits: LogLimits) {
    this.#rows = rows;
    this.#limits = limits;
    for (const { first, last } of rows.ends()) {
      const head = this.add(streamMetaOf(first, last));
      // A row that only marks a place is older than the kept events.
      if (head.first === first.seq) head.oldestAt = this.#firstAt(head);
    }
  }

  heads(): Iterable<StreamMeta> {
    return this.#heads.values();
  }

  get isEmpty(): boolean {
    return this.#heads.size === 0;
  }

  get(number: number): StreamMeta | undefined {
    return this.#heads.get(number);
  }

  /** @returns `false` for a stream that was forgotten while a caller still held its metadata. */
  has(head: StreamMeta): boolean {
    return this.#heads.get(head.id.number) === head;
  }

  backlog(): StreamMeta | undefined {
    for (const head of this.#heads.values()) if (head.id.kind === "backlog") return head;
    return undefined;
  }

  nextNumber(): number {
    return this.#lastNumber + 1;
  }

  add(head: StreamMeta): StreamMeta {
    this.#heads.set(head.id.number, head);
    this.#lastNumber = Math.max(this.#lastNumber, head.id.number);
    return head;
  }

  clear(): void {
    this.#heads.clear();
  }

  forget({ id }: StreamMeta): void {
    this.#rows.delete(id.number, 0, STREAM_ROWS - 1);
    this.#heads.delete(id.number);
  }

  /** Makes room for one more stream. */
  makeRoomForStream(): void {
    const excess = this.#heads.size + 1 - this.#limits.keptStreamsPerSession;
    if (excess <= 0) return;
    const finished = this.#droppable();
    const order = [
      ...finished.filter(({ isAcknowledged }) => isAcknowledged),
      ...[...this.#heads.values()].filter(isPlaceholder),
      ...finished.filter(({ isAcknowledged }) => !isAcknowledged),
    ];
    for (const head of order.slice(0, excess)) this.forget(head);
  }

  /**
   * Makes room for one more event.
   *
   * @returns `false` when a live stream would have to lose events for it.
   */
  makeRoomForEvent(head: StreamMeta, rows: number, chars: number): boolean {
    const { keptEventsPerStream, keptBytesPerStream, keptBytesPerSession } = this.#limits;
    const isEndless = head.id.kind !== "post";
    const excessRows = keptRows(head) + rows - keptEventsPerStream;
    const excessChars = keptChars(head) + chars - keptBytesPerStream;
    if (excessRows > 0 || excessChars > 0) {
      if (!isEndless) return false;
      this.#trimExcess(head, excessRows, excessChars);
    }
    let excess = this.#keptChars() + chars - keptBytesPerSession;
    for (const old of excess > 0 ? this.#droppable() : []) {
      if (excess <= 0) break;
      excess -= keptChars(old);
      this.forget(old);
    }
    if (isEndless && excess > 0) this.#trimExcess(head, 0, excess);
    return isEndless || (excess <= 0 && head.last + rows < STREAM_ROWS);
  }

  /** Deletes events past their retention. */
  expire(now: number): void {
    const cutoff = now - this.#retentionMs;
    for (const head of this.#heads.values()) {
      if (head.id.kind === "post") {
        if (head.isEnded && head.newestAt <= cutoff) this.forget(head);
      } else if (keptRows(head) > 0 && head.oldestAt <= cutoff) {
        this.#trim(head, this.#rows.lastUntil(head.id.number, cutoff) ?? head.first);
      }
    }
  }

  /** When `expire` is due next, in milliseconds since 1970; `undefined` when no event will expire. */
  expiresAt(): number | undefined {
    let earliest = Infinity;
    for (const head of this.#heads.values()) {
      if (keptRows(head) === 0) continue;
      if (head.id.kind !== "post") earliest = Math.min(earliest, head.oldestAt);
      else if (head.isEnded) earliest = Math.min(earliest, head.newestAt);
    }
    // Late by a tenth, so that events written one by one are deleted together.
    return earliest === Infinity ? undefined : earliest + this.#retentionMs * 1.1;
  }

  get #retentionMs(): number {
    return this.#limits.retentionMinutes * MINUTE_MS;
  }

  /** Finished streams: first those that the client has acknowledged whole, then the oldest. */
  #droppable(): StreamMeta[] {
    const found = [...this.#heads.values()].filter((head) => head.isEnded && !head.isInUse);
    return found.toSorted(
      (a, b) => Number(b.isAcknowledged) - Number(a.isAcknowledged) || a.newestAt - b.newestAt,
    );
  }

  #keptChars(): number {
    let chars = 0;
    for (const head of this.#heads.values()) chars += keptChars(head);
    return chars;
  }

  #trimExcess(head: StreamMeta, rows: number, chars: number): void {
    const seq = head.first + Math.max(rows, 1);
    const from = { seq, chars: head.trimmedChars + Math.max(chars, 0) };
    this.#trim(head, this.#rows.firstFrom(head.id.number, from) ?? head.last);
  }

  /** Deletes a stream's events up to a place; the stream's last row stays and marks its place. */
  #trim(head: StreamMeta, to: number): void {
    if (to <= head.first) return;
    const { number } = head.id;
    head.trimmedChars = this.#rows.at(number, to)?.chars ?? head.chars;
    if (to === head.last) this.#rows.blank(number, to);
    this.#rows.delete(number, 0, to === head.last ? to - 1 : to);
    head.first = to;
    head.oldestAt = this.#firstAt(head);
  }

  #firstAt({ id, first, newestAt }: StreamMeta): number {
    return this.#rows.at(id.number, first + 1)?.at ?? newestAt;
  }
}

/** A standalone stream without kept events and without a reader. */
function isPlaceholder(head: StreamMeta): boolean {
  return head.id.kind === "standalone" && !head.isInUse && keptRows(head) === 0;
}
