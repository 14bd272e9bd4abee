/**
 * What a client may expect of the event log, as a model that keeps everything in memory: a property
 * test does the same to both and compares.
 */

import type { Position, StreamId } from "../../../../src/sessions/log/event-id.ts";
import { EventLog } from "../../../../src/sessions/log/event-log.ts";
import type { StreamMeta } from "../../../../src/sessions/log/stream-meta.ts";
import type { LogLimits } from "../../../../src/sessions/log/stream-index.ts";

interface ModelEvent {
  readonly seq: number;
  readonly data: string;
  readonly at: number;
}

interface ModelStream {
  readonly id: StreamId;
  readonly events: ModelEvent[];
  /** When it ended, if it did. */
  endedAt: number | undefined;
  isInUse: boolean;
  /** The log need not know it any more: of an unread stream that said nothing, nothing is kept. */
  mayBeUnknown: boolean;
}

export class LogModel {
  readonly streams: ModelStream[] = [];
  /** What waits for a standalone stream. */
  readonly #backlog: { readonly data: string; readonly at: number }[] = [];
  readonly #sql: SqlStorage;
  readonly #limits: LogLimits;
  readonly #hasPressure: boolean;
  #log: EventLog;
  #clock = 1_000_000;
  #count = 0;

  /** @param hasPressure whether quotas are so small that streams are dropped for others. */
  constructor(sql: SqlStorage, limits: LogLimits, hasPressure: boolean) {
    sql.exec("DROP TABLE IF EXISTS events_1");
    this.#sql = sql;
    this.#limits = limits;
    this.#hasPressure = hasPressure;
    this.#log = this.#create();
  }

  #create(): EventLog {
    return new EventLog({
      ...{ sql: this.#sql, limits: this.#limits, mark: "abcdef" },
      random: () => (++this.#count).toString(16).padStart(6, "0"),
      now: () => this.#clock,
    });
  }

  open(kind: "post" | "standalone"): void {
    const meta = kind === "post" ? this.#log.openPost("[1]") : this.#log.openStandalone();
    meta.isInUse = true;
    const stream: ModelStream = {
      ...{ id: meta.id, events: [], endedAt: undefined },
      ...{ isInUse: true, mayBeUnknown: false },
    };
    this.streams.push(stream);
    if (kind === "post") return;
    this.#log.moveBacklog(meta);
    const moved = this.#log.read(meta, 0, Infinity);
    for (const { data, at } of this.#backlog.splice(0)) {
      const found = moved.find((event) => event.data === data);
      if (found !== undefined) stream.events.push({ seq: found.seq, data, at: this.#clock });
      // What has to go goes from the front: after one that was moved, none may be missing.
      else if (stream.events.length > 0 || !(this.#hasPressure || this.#isOld(at))) {
        throw new Error(`Lost on its way from the backlog: ${data.slice(0, 9)}`);
      }
    }
    if (moved.length !== stream.events.length) throw new Error("More was moved than had waited");
  }

  /** @param isShared events of a POST are written together, by `flush` at the latest. */
  append(index: number, text: string, isFinal: boolean, isShared: boolean): void {
    const stream = this.#pick(index);
    const meta = stream && this.#headOf(stream);
    if (stream === undefined || meta === undefined || stream.endedAt !== undefined) return;
    const isPost = stream.id.kind === "post";
    const data = `${++this.#count}:${text}`;
    const seq = this.#log.append(meta, data, {
      isFinal: isFinal && isPost,
      isShared: isShared && isPost,
    });
    if (seq === undefined) {
      if (!isPost || !this.#hasPressure) throw new Error("Refused, though there is room");
      return;
    }
    stream.events.push({ seq, data, at: this.#clock });
    if (isFinal && isPost) stream.endedAt = this.#clock;
  }

  /** Something that belongs to no request, while nobody listens. */
  wait(text: string): void {
    const data = `${++this.#count}:${text}`;
    this.#log.appendToBacklog(data, {});
    this.#backlog.push({ data, at: this.#clock });
  }

  end(index: number): void {
    const stream = this.#pick(index);
    const meta = stream && this.#headOf(stream);
    if (stream === undefined || meta === undefined || stream.id.kind !== "post") return;
    this.#log.end(meta);
    stream.endedAt ??= this.#clock;
  }

  setInUse(index: number, isInUse: boolean): void {
    const stream = this.#pick(index);
    const meta = stream && this.#headOf(stream);
    if (stream === undefined || meta === undefined) return;
    meta.isInUse = isInUse;
    stream.isInUse = isInUse;
  }

  flush(): void {
    this.#log.flush();
  }

  /** The holder's memory goes, with what was not written and so not seen; its sockets stay. */
  evict(): void {
    for (const stream of this.streams) {
      const meta = this.#headOf(stream);
      const written = meta === undefined ? Infinity : this.#log.lastWritten(meta);
      while ((stream.events.at(-1)?.seq ?? 0) > written) stream.events.pop();
    }
    this.#log = this.#create();
    for (const stream of this.streams) {
      // A stream that is over has been closed for its reader.
      if (stream.isInUse && stream.endedAt === undefined) {
        this.#log.adopt(stream.id, stream.events.at(-1)?.seq ?? 0).isInUse = true;
      } else {
        stream.isInUse = false;
        stream.mayBeUnknown ||= stream.events.length === 0 && stream.id.kind !== "post";
      }
    }
  }

  pass(ms: number): void {
    this.#clock += ms;
  }

  expire(): void {
    this.#log.expire();
  }

  /** @throws Error when a resume from anywhere would bring anything but exactly what follows. */
  check(): void {
    for (const stream of this.streams) {
      for (const seq of [0, ...stream.events.map((event) => event.seq)]) {
        this.#checkAt(stream, { stream: stream.id, seq });
      }
    }
  }

  #checkAt(stream: ModelStream, position: Position): void {
    const found = this.#log.find(position);
    if (found.kind !== "found") {
      if (found.kind === "foreign" || !this.#mayBeGone(stream, position.seq)) {
        throw new Error(`${found.kind}: ${JSON.stringify(position)}, but nothing is over`);
      }
      return;
    }
    const expected = stream.events.filter((event) => event.seq > position.seq);
    if (
      this.#isOver(stream) ||
      expected.some(({ at }) => stream.id.kind !== "post" && this.#isOld(at))
    ) {
      throw new Error(`Past its retention, and served: ${JSON.stringify(position)}`);
    }
    const read = this.#log.read(found.meta, position.seq, Infinity);
    const isSame =
      read.length === expected.length &&
      read.every(({ seq, data }, n) => seq === expected[n]?.seq && data === expected[n]?.data);
    if (!isSame) {
      throw new Error(`Read [${brief(read)}] instead of [${brief(expected)}]`);
    }
  }

  #mayBeGone(stream: ModelStream, seq: number): boolean {
    const { id, events, endedAt, isInUse, mayBeUnknown } = stream;
    if (mayBeUnknown) return true;
    if (id.kind === "post") {
      // One that runs loses nothing, whatever the pressure.
      if (endedAt === undefined) return false;
      // An end without an event is not written: the last event's time stands for it later.
      return this.#hasPressure || this.#isOld(Math.min(endedAt, events.at(-1)?.at ?? 0), isInUse);
    }
    return this.#hasPressure || events.some((event) => event.seq > seq && this.#isOld(event.at));
  }

  #isOver({ id, endedAt, isInUse }: ModelStream): boolean {
    return id.kind === "post" && endedAt !== undefined && this.#isOld(endedAt, isInUse);
  }

  /** @param isInUse a finished stream is kept for as long again for its reader. */
  #isOld(at: number, isInUse = false): boolean {
    return this.#clock - at >= this.#limits.retentionMinutes * 60_000 * (isInUse ? 2 : 1);
  }

  #pick(index: number): ModelStream | undefined {
    return this.streams[index % Math.max(this.streams.length, 1)];
  }

  #headOf({ id }: ModelStream): StreamMeta | undefined {
    for (const meta of this.#log.streams()) {
      if (meta.id.number === id.number && meta.id.nonce === id.nonce) return meta;
    }
    return undefined;
  }
}

function brief(events: readonly { readonly seq: number; readonly data: string }[]): string {
  return events.map(({ seq, data }) => `${seq}=${data.slice(0, 9)}/${data.length}`).join(" ");
}
