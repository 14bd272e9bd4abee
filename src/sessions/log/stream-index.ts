/**
 * The streams that a log keeps. When there is no room or the retention ends, finished streams are
 * deleted whole, the oldest first; a stream that never finishes loses its oldest events. A live stream
 * that answers a request loses nothing: its event is refused.
 */

import type { StreamId } from "./event-id.ts";
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
  readonly #streams = new Map<number, StreamMeta>();
  #lastNumber = 0;
  #isClosed = false;

  constructor(rows: EventRows, limits: LogLimits) {
    this.#rows = rows;
    this.#limits = limits;
    for (const { first, last } of rows.ends()) {
      const meta = this.add(streamMetaOf(first, last));
      // A row that only marks a place is older than the kept events.
      if (meta.first === first.seq) meta.oldestAt = this.#firstAt(meta);
    }
  }

  streams(): Iterable<StreamMeta> {
    return this.#streams.values();
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  get(number: number): StreamMeta | undefined {
    return this.#streams.get(number);
  }

  /** @returns the stream of this id, and no other that has its number. */
  find({ kind, number, nonce }: StreamId): StreamMeta | undefined {
    const meta = this.get(number);
    return meta?.id.nonce === nonce && meta.id.kind === kind ? meta : undefined;
  }

  /** @returns the standalone stream that was opened in the place of one that was not logged. */
  inPlaceOf({ kind, nonce }: StreamId): StreamMeta | undefined {
    if (kind !== "standalone") return undefined;
    for (const meta of this.#streams.values()) {
      if (meta.id.kind === kind && meta.id.nonce === nonce) return meta;
    }
    return undefined;
  }

  /** @returns `false` for a stream that was forgotten while a caller still held its metadata. */
  has(meta: StreamMeta): boolean {
    return this.#streams.get(meta.id.number) === meta;
  }

  backlog(): StreamMeta | undefined {
    for (const meta of this.#streams.values()) if (meta.id.kind === "backlog") return meta;
    return undefined;
  }

  nextNumber(): number {
    return this.#lastNumber + 1;
  }

  add(meta: StreamMeta): StreamMeta {
    if (!this.#isClosed) this.#streams.set(meta.id.number, meta);
    this.#lastNumber = Math.max(this.#lastNumber, meta.id.number);
    return meta;
  }

  /** Forgets every stream: one that a late answer opens is not kept, since nothing of it would ever expire. */
  close(): void {
    this.#isClosed = true;
    this.#streams.clear();
  }

  forget({ id }: StreamMeta): void {
    this.#rows.delete(id.number, 0, STREAM_ROWS - 1);
    this.#streams.delete(id.number);
  }

  /** Makes room for one more stream. */
  makeRoomForStream(): void {
    const excess = this.#streams.size + 1 - this.#limits.keptStreamsPerSession;
    if (excess <= 0) return;
    const finished = this.#droppable();
    const order = [
      ...finished.filter(({ isAcknowledged }) => isAcknowledged),
      ...[...this.#streams.values()].filter(isPlaceholder),
      ...finished.filter(({ isAcknowledged }) => !isAcknowledged),
    ];
    for (const meta of order.slice(0, excess)) this.forget(meta);
  }

  /**
   * Makes room for one more event.
   *
   * @returns `false` when a live stream would have to lose events for it.
   */
  makeRoomForEvent(meta: StreamMeta, rows: number, chars: number): boolean {
    const { keptEventsPerStream, keptBytesPerStream, keptBytesPerSession } = this.#limits;
    const isEndless = meta.id.kind !== "post";
    const excessRows = keptRows(meta) + rows - keptEventsPerStream;
    const excessChars = keptChars(meta) + chars - keptBytesPerStream;
    if (excessRows > 0 || excessChars > 0) {
      if (!isEndless) return false;
      this.#trimExcess(meta, excessRows, excessChars);
    }
    let excess = this.#keptChars() + chars - keptBytesPerSession;
    for (const old of excess > 0 ? this.#droppable() : []) {
      if (excess <= 0) break;
      excess -= keptChars(old);
      this.forget(old);
    }
    if (isEndless && excess > 0) this.#trimExcess(meta, 0, excess);
    return isEndless || (excess <= 0 && meta.last + rows < STREAM_ROWS);
  }

  /** Deletes events past their retention. */
  expire(now: number): void {
    const cutoff = now - this.#retentionMs;
    for (const meta of this.#streams.values()) {
      if (meta.id.kind === "post") {
        if (meta.isEnded && this.#keptFrom(meta) <= cutoff) this.forget(meta);
      } else if (keptRows(meta) > 0 && meta.oldestAt <= cutoff) {
        this.#trim(meta, this.#rows.lastUntil(meta.id.number, cutoff) ?? meta.first);
      }
    }
  }

  /** When `expire` is due next, in milliseconds since 1970; `undefined` when no event will expire. */
  expiresAt(): number | undefined {
    let earliest = Infinity;
    for (const meta of this.#streams.values()) {
      if (keptRows(meta) === 0) continue;
      if (meta.id.kind !== "post") earliest = Math.min(earliest, meta.oldestAt);
      else if (meta.isEnded) earliest = Math.min(earliest, this.#keptFrom(meta));
    }
    // Late by a tenth, so that events written one by one are deleted together.
    return earliest === Infinity ? undefined : earliest + this.#retentionMs * 1.1;
  }

  /**
   * When the retention of a finished stream begins. A reader that is behind gets the rest; but it may take little at a
   * time, so the stream is kept for as long again at most.
   */
  #keptFrom({ isInUse, newestAt }: StreamMeta): number {
    return isInUse ? newestAt + this.#retentionMs : newestAt;
  }

  get #retentionMs(): number {
    return this.#limits.retentionMinutes * MINUTE_MS;
  }

  /** Finished streams: first those that the client has acknowledged whole, then the oldest. */
  #droppable(): StreamMeta[] {
    const found = [...this.#streams.values()].filter((meta) => meta.isEnded && !meta.isInUse);
    return found.toSorted(
      (a, b) => Number(b.isAcknowledged) - Number(a.isAcknowledged) || a.newestAt - b.newestAt,
    );
  }

  #keptChars(): number {
    let chars = 0;
    for (const meta of this.#streams.values()) chars += keptChars(meta);
    return chars;
  }

  #trimExcess(meta: StreamMeta, rows: number, chars: number): void {
    const seq = meta.first + Math.max(rows, 1);
    const from = { seq, chars: meta.trimmedChars + Math.max(chars, 0) };
    this.#trim(meta, this.#rows.firstFrom(meta.id.number, from) ?? meta.last);
  }

  /** Deletes a stream's events up to a place; the stream's last row stays and marks its place. */
  #trim(meta: StreamMeta, to: number): void {
    if (to <= meta.first) return;
    const { number } = meta.id;
    meta.trimmedChars = this.#rows.at(number, to)?.chars ?? meta.chars;
    if (to === meta.last) this.#rows.blank(number, to);
    this.#rows.delete(number, 0, to === meta.last ? to - 1 : to);
    meta.first = to;
    meta.oldestAt = this.#firstAt(meta);
  }

  #firstAt({ id, first, newestAt }: StreamMeta): number {
    return this.#rows.at(id.number, first + 1)?.at ?? newestAt;
  }
}

/** A standalone stream without kept events and without a reader. */
function isPlaceholder(meta: StreamMeta): boolean {
  return meta.id.kind === "standalone" && !meta.isInUse && keptRows(meta) === 0;
}
