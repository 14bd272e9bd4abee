/**
 * The log of one session: the events of its streams, kept until their retention ends. An appended event
 * is durable before a client can see it: the platform holds back everything that the session's object
 * sends until the rows written before are safe.
 */

import { Answers, type KeptAnswer } from "./kept-answers.ts";
import { bearsMark, type Position, type StreamId, type StreamKind } from "./event-id.ts";
import { emptyStreamMeta, type StreamMeta, keptRows } from "./stream-meta.ts";
import { cutIntoRows } from "../../lib/cut-into-rows.ts";
import { placeOf, type Row, rowId, EventRows, RowState } from "./event-rows.ts";
import { type LogLimits, StreamIndex } from "./stream-index.ts";
import type { Sql } from "../../lib/sql.ts";

/** The portion of the backlog that is moved at a time, in characters. */
const MOVED_CHARS = 1024 * 1024;

export interface LogOptions {
  readonly sql: Sql;
  readonly limits: LogLimits;
  /** Distinguishes the event ids of this session from those of others: 6 hexadecimal digits. */
  readonly mark: string;
  /** @returns 6 unpredictable hexadecimal digits. */
  readonly random: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called after each written row: it has to be deleted when its retention ends. */
  readonly onWrite?: () => void;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly data: string;
  /** The resume token that continues the server's stream after this event; opaque here. */
  readonly origin: string | undefined;
}

export interface AppendOptions {
  readonly origin?: string | undefined;
  /** The stream ends with this event. */
  readonly isFinal?: boolean;
  /** Appended even beyond the quota: the event is an answer, or stands for one. */
  readonly isForced?: boolean;
}

export type Found =
  | { readonly kind: "found"; readonly head: StreamMeta }
  /** Some of the events that followed are no longer kept. */
  | { readonly kind: "gone" }
  /** The log has no such stream. */
  | { readonly kind: "unknown" }
  /** The id belongs to another session. */
  | { readonly kind: "foreign" };

export class EventLog {
  readonly #rows: EventRows;
  readonly #answers: Answers;
  readonly #index: StreamIndex;
  readonly #mark: string;
  readonly #random: () => string;
  readonly #now: () => number;
  readonly #onWrite: (() => void) | undefined;
  /** Row ids of events of an earlier life that this one has moved from the backlog. */
  readonly #moved = new Set<number>();

  constructor({ sql, limits, mark, random, now, onWrite }: LogOptions) {
    this.#answers = new Answers(sql);
    this.#rows = new EventRows(sql, (from, to) => this.#answers.delete(from, to));
    this.#index = new StreamIndex(this.#rows, limits);
    this.#mark = mark;
    this.#random = random;
    this.#now = now;
    this.#onWrite = onWrite;
  }

  /** The kept streams. */
  heads(): Iterable<StreamMeta> {
    return this.#index.heads();
  }

  /** Opens a standalone stream. Nothing is written before its first event. */
  openStandalone(): StreamMeta {
    return this.#open("standalone");
  }

  /**
   * Opens the stream of one POST.
   *
   * @param record identifies, after a crash, the requests that the stream answers.
   */
  openPost(record: string, origin?: string): StreamMeta {
    const head = this.#open("post");
    head.first = -1; // the record has the place before the first event
    this.#write(head, { seq: 0, at: this.#now(), state: 0, data: record, origin });
    return head;
  }

  /** The record that `openPost` was given. */
  record({ id }: StreamMeta): string | undefined {
    return this.#rows.at(id.number, 0)?.data;
  }

  /** Keeps a standalone stream without logged events across a restart: its number is in use. */
  adopt(id: StreamId, last: number): StreamMeta {
    const known = this.#index.get(id.number);
    if (known?.id.nonce === id.nonce) return known;
    return this.#index.add(emptyStreamMeta(id, last, this.#now()));
  }

  /** @returns the place of the event; `undefined` when a live stream has used up its quota. */
  append(head: StreamMeta, data: string, options: AppendOptions = {}): number | undefined {
    const { origin, isFinal = false, isForced = false } = options;
    const parts = cutIntoRows(data);
    const tickets = parts.length * ((origin ?? head.origin)?.length ?? 0);
    const hasRoom = this.#index.makeRoomForEvent(head, parts.length, data.length + tickets);
    if (!hasRoom && !isForced) return undefined;
    const at = this.#now();
    for (const [index, part] of parts.entries()) {
      const isWhole = index === parts.length - 1;
      const state = !isWhole ? RowState.Part : isFinal ? RowState.Final : 0;
      this.#write(head, { seq: head.last + 1, at, state, data: part, origin });
    }
    head.isEnded ||= isFinal;
    return head.last;
  }

  /**
   * Notes the resume token of the server's stream before any event carries one. Afterwards the last
   * event's token is enough: resuming there yields the messages after that event.
   *
   * @param isMore the token replaces the known one.
   */
  note(head: StreamMeta, origin: string, isMore = false): void {
    if (!this.#index.has(head) || (head.origin !== undefined && !isMore)) return;
    head.origin = origin;
    head.newestAt = this.#now();
    const { last: seq, newestAt: at, chars } = head;
    if (keptRows(head) > 0) this.#rows.setOrigin(head.id.number, seq, origin);
    else this.#rows.hold({ ...head.id, seq, at, chars, state: RowState.Expired, data: "", origin });
  }

  /** Forgets a stream at once. */
  forget(head: StreamMeta): void {
    this.#index.forget(head);
  }

  /** Stops all writes: the session is over and its database is empty. */
  close(): void {
    this.#rows.close();
    this.#answers.close();
    this.#index.clear();
  }

  /** Ends a stream without an event. */
  end(head: StreamMeta): void {
    if (head.isEnded) return;
    head.isEnded = true;
    head.newestAt = this.#now();
    if (keptRows(head) > 0 && this.#index.has(head))
      this.#rows.setState(head.id.number, head.last, RowState.Final);
  }

  /**
   * Reads whole events after a place, in order.
   *
   * @param maxChars reading stops after so many characters; one event is returned whatever its size.
   */
  read(head: StreamMeta, after: number, maxChars: number): LoggedEvent[] {
    const events: LoggedEvent[] = [];
    let chars = 0;
    let data = "";
    for (const row of this.#rows.range(head.id.number, Math.max(after, 0) + 1, head.last)) {
      data += row.data;
      if ((row.state & (RowState.Part | RowState.Expired)) !== 0) continue;
      events.push({ seq: row.seq, data, origin: row.origin });
      chars += data.length;
      if (chars >= maxChars) break;
      data = "";
    }
    return events;
  }

  /** The resume token of one event that an earlier life of the session's object has appended. */
  inheritedOrigin({ stream, seq }: Position): string | undefined {
    const head = this.#index.get(stream.number);
    if (head?.id.nonce !== stream.nonce) return undefined;
    const isInherited = seq <= head.inherited || this.#moved.has(rowId(stream.number, seq));
    return isInherited ? this.#rows.at(stream.number, seq)?.origin : undefined;
  }

  /**
   * Keeps the answer to a question, until the server is known to have it.
   *
   * @param question the place of its event.
   * @param ticket finds the server that asked; opaque here.
   * @returns `false` for a question that was answered before, in any life of the session's object.
   */
  keepAnswer({ stream, seq }: Position, ticket: string, reply: string): boolean {
    const question = rowId(stream.number, seq);
    if (this.#answers.has(question)) return false;
    // An answer is deleted with its stream, so without a kept stream it would stay for ever.
    const isKept = this.#index.get(stream.number)?.id.nonce === stream.nonce;
    if (isKept) this.#answers.keep({ question, ticket, reply });
    return true;
  }

  /** Refuses later answers to a question. @param question the place of its event. */
  closeQuestion(question: Position): void {
    this.keepAnswer(question, "", "");
  }

  isAnswered({ stream, seq }: Position): boolean {
    return this.#answers.has(rowId(stream.number, seq));
  }

  /** Notes that the server has the answer to a question. @param question the place of its event. */
  answerBrought({ stream, seq }: Position): void {
    this.#answers.brought(rowId(stream.number, seq));
  }

  /** The answers of an earlier life that the servers may not have. */
  *keptAnswers(): Generator<Omit<KeptAnswer, "question"> & { position: Position }, void, void> {
    if (this.#index.isEmpty) return;
    for (const { question, ticket, reply } of this.#answers.kept()) {
      const { number, seq } = placeOf(question);
      const head = this.#index.get(number);
      if (head !== undefined) yield { position: { stream: head.id, seq }, ticket, reply };
    }
  }

  /** Finds the stream of an event id, if every later event of it is still kept. */
  find({ stream, seq }: Position): Found {
    if (!bearsMark(stream, this.#mark)) return { kind: "foreign" };
    this.expire();
    const head = this.#index.get(stream.number);
    const isIt = head?.id.nonce === stream.nonce && head.id.kind === stream.kind;
    if (!isIt || seq > head.last) return { kind: "unknown" };
    return seq < head.first ? { kind: "gone" } : { kind: "found", head };
  }

  /** Notes the last event that the client has: a finished stream that it has whole is dropped first. */
  acknowledge(head: StreamMeta, seq: number): void {
    head.isAcknowledged ||= head.isEnded && seq === head.last;
  }

  /** Keeps an event until there is a standalone stream to carry it. */
  appendToBacklog(data: string, options: AppendOptions): void {
    this.append(this.#index.backlog() ?? this.#open("backlog"), data, options);
  }

  /**
   * Moves the waiting events to the stream that carries them from now on.
   *
   * @param placed adapts an event's data to its new place.
   */
  moveBacklog(
    to: StreamMeta,
    placed: (data: string, seq: number) => string = (data) => data,
  ): void {
    const backlog = this.#index.backlog();
    if (backlog === undefined) return;
    for (let after = backlog.first; after < backlog.last;) {
      const events = this.read(backlog, after, MOVED_CHARS);
      for (const { seq, data, origin } of events) {
        const first = to.last + 1;
        this.append(to, placed(data, first), { origin });
        if (seq <= backlog.inherited) this.#moved.add(rowId(to.id.number, first));
      }
      after = events.at(-1)?.seq ?? backlog.last;
    }
    this.#index.forget(backlog);
  }

  /** Deletes events past their retention: on reading as well as by alarm, which may be late. */
  expire(): void {
    this.#index.expire(this.#now());
  }

  /** When `expire` is due next, in milliseconds since 1970; `undefined` when no event will expire. */
  expiresAt(): number | undefined {
    return this.#index.expiresAt();
  }

  #open(kind: StreamKind): StreamMeta {
    this.#index.makeRoomForStream();
    const id = { kind, number: this.#index.nextNumber(), nonce: this.#mark + this.#random() };
    return this.#index.add(emptyStreamMeta(id, 0, this.#now()));
  }

  #write(head: StreamMeta, row: Pick<Row, "seq" | "at" | "state" | "data" | "origin">): void {
    if (keptRows(head) === 0 || row.seq === 0) head.oldestAt = row.at;
    head.last = row.seq;
    head.newestAt = row.at;
    head.origin = row.origin ?? head.origin;
    head.chars += row.data.length + (head.origin?.length ?? 0);
    if (!this.#index.has(head)) return;
    // The newest row of a stream always has its resume token, so that one read finds it.
    this.#rows.insert({ ...head.id, ...row, chars: head.chars, origin: head.origin });
    this.#onWrite?.();
  }
}
