/**
 * The log of one session: the events of its streams, kept until their retention ends. An appended event
 * is durable before a client can see it: the platform holds back everything that the session's object
 * sends until the rows written before are safe.
 */

import { Answers, type KeptAnswer } from "./kept-answers.ts";
import { bearsMark, type Position, type StreamId, type StreamKind } from "./event-id.ts";
import { emptyStreamMeta, type StreamMeta, keptRows } from "./stream-meta.ts";
import { cutIntoRows } from "../../lib/cut-into-rows.ts";
import { eventsIn, EventRows, placeOf, type Row, rowId, RowState } from "./event-rows.ts";
import { type LogLimits, StreamIndex } from "./stream-index.ts";
import type { Sql } from "../../lib/sql.ts";

/** The portion of the backlog that is moved at a time, in characters. */
const MOVED_CHARS = 1024 * 1024;
/** A message that was written is looked for among so many of its stream, when it comes again. */
const RECENT_TOKENS = 1000;

export interface LogOptions {
  readonly sql: Sql;
  readonly limits: LogLimits;
  /** Distinguishes the event ids of this session from those of others: 6 hexadecimal digits. */
  readonly mark: string;
  /** @returns 6 unpredictable hexadecimal digits. */
  readonly random: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called after each appended event: it has to be deleted when its retention ends. */
  readonly onWrite?: () => void;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly data: string;
  /**
   * The resume token that continues the server's stream after this event; opaque here. Of the events that
   * share a row, only the last has one.
   */
  readonly resumeToken: string | undefined;
}

export interface AppendOptions {
  readonly resumeToken?: string | undefined;
  /** The stream ends with this event. */
  readonly isFinal?: boolean;
  /** Appended even beyond the quota: the event is an answer, or stands for one. */
  readonly isForced?: boolean;
  /** Written with the events that follow, by `flush` at the latest: until then, it must not be sent. */
  readonly isShared?: boolean;
}

export type Found =
  | { readonly kind: "found"; readonly meta: StreamMeta }
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
  streams(): Iterable<StreamMeta> {
    return this.#index.streams();
  }

  /**
   * Opens a standalone stream. Nothing is written before its first event.
   *
   * @param before the stream in whose place it is opened: the client, which has no event of that one,
   *   finds the new one by its id.
   */
  openStandalone(before?: StreamId): StreamMeta {
    return this.#open("standalone", before?.nonce);
  }

  /**
   * Opens the stream of one POST.
   *
   * @param record identifies, after a crash, the requests that the stream answers.
   */
  openPost(record: string, resumeToken?: string): StreamMeta {
    const meta = this.#open("post");
    meta.first = -1; // the record has the place before the first event
    this.#write(meta, { seq: 0, at: this.#now(), state: 0, data: record, resumeToken }, false);
    return meta;
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
  append(meta: StreamMeta, data: string, options: AppendOptions = {}): number | undefined {
    const { resumeToken, isFinal = false, isForced = false, isShared = false } = options;
    const parts = cutIntoRows(data);
    const tokenChars = parts.length * ((resumeToken ?? meta.resumeToken)?.length ?? 0);
    const hasRoom = this.#index.makeRoomForEvent(meta, parts.length, data.length + tokenChars);
    if (!hasRoom && !isForced) return undefined;
    const at = this.#now();
    for (const [index, part] of parts.entries()) {
      const isWhole = index === parts.length - 1;
      const state = !isWhole ? RowState.Part : isFinal ? RowState.Final : 0;
      const row = { seq: meta.last + 1, at, state, data: part, resumeToken };
      this.#write(meta, row, isShared && parts.length === 1);
    }
    meta.isEnded ||= isFinal;
    return meta.last;
  }

  /** Writes the events that share rows. */
  flush(): void {
    this.#rows.flush();
  }

  /** The place of the last event that is written: it may be sent. */
  lastWritten({ id, last }: StreamMeta): number {
    return last - this.#rows.unwritten(id.number);
  }

  /**
   * Notes the resume token of the server's stream before any event carries one. Afterwards the last
   * event's token is enough: resuming there yields the messages after that event.
   *
   * @param isMore the token replaces the known one.
   */
  note(meta: StreamMeta, resumeToken: string, isMore = false): void {
    if (!this.#index.has(meta) || (meta.resumeToken !== undefined && !isMore)) return;
    const isKept = keptRows(meta) > 0;
    if (isKept) meta.chars += resumeToken.length - (meta.resumeToken?.length ?? 0);
    meta.resumeToken = resumeToken;
    meta.newestAt = this.#now();
    const { last: seq, newestAt: at, chars } = meta;
    if (isKept) this.#rows.setResumeToken(meta.id.number, seq, { resumeToken, chars });
    else
      this.#rows.hold({
        ...meta.id,
        seq,
        at,
        chars,
        state: RowState.Expired,
        events: 1,
        data: "",
        resumeToken,
      });
  }

  /** Forgets a stream at once. */
  forget(meta: StreamMeta): void {
    this.#index.forget(meta);
  }

  /** Stops all writes: the session is over and its database is empty. */
  close(): void {
    this.#rows.close();
    this.#answers.close();
    this.#index.close();
  }

  /** Ends a stream without an event. */
  end(meta: StreamMeta): void {
    if (meta.isEnded) return;
    meta.isEnded = true;
    meta.newestAt = this.#now();
    if (keptRows(meta) > 0 && this.#index.has(meta))
      this.#rows.markFinal(meta.id.number, meta.last);
  }

  /**
   * Reads whole events after a place, in order.
   *
   * @param maxChars reading stops after so many characters; one event is returned whatever its size.
   */
  read(meta: StreamMeta, after: number, maxChars: number): LoggedEvent[] {
    const events: LoggedEvent[] = [];
    let chars = 0;
    let begun = "";
    for (const row of this.#rows.range(meta.id.number, Math.max(after, 0) + 1, meta.last)) {
      if ((row.state & (RowState.Part | RowState.Expired)) !== 0) {
        begun += row.data;
        continue;
      }
      for (const { seq, data } of eventsIn(row)) {
        if (seq <= after) continue;
        const resumeToken = seq === row.seq ? row.resumeToken : undefined;
        events.push({ seq, data: begun + data, resumeToken });
        chars += begun.length + data.length;
        begun = "";
      }
      if (chars >= maxChars) break;
    }
    return events;
  }

  /** The resume token of one event that an earlier life of the session's object has appended. */
  inheritedResumeToken({ stream, seq }: Position): string | undefined {
    const meta = this.#index.get(stream.number);
    if (meta?.id.nonce !== stream.nonce) return undefined;
    const isInherited = seq <= meta.inherited || this.#moved.has(rowId(stream.number, seq));
    return isInherited ? this.#rows.at(stream.number, seq)?.resumeToken : undefined;
  }

  /**
   * Keeps the answer to a question, until the server is known to have it.
   *
   * @param question the place of its event.
   * @param resumeToken finds the server that asked; opaque here.
   * @returns `false` for a question that was answered before, in any life of the session's object.
   */
  keepAnswer({ stream, seq }: Position, resumeToken: string, reply: string): boolean {
    const question = rowId(stream.number, seq);
    if (this.#answers.has(question)) return false;
    // An answer is deleted with its stream, so without a kept stream it would stay for ever.
    const isKept = this.#index.get(stream.number)?.id.nonce === stream.nonce;
    if (isKept) this.#answers.keep({ question, resumeToken, reply });
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
  answerDelivered({ stream, seq }: Position): void {
    this.#answers.delivered(rowId(stream.number, seq));
  }

  /** The answers of an earlier life that the servers may not have. */
  *keptAnswers(): Generator<Omit<KeptAnswer, "question"> & { position: Position }, void, void> {
    if (this.#index.isEmpty) return;
    for (const { question, resumeToken, reply } of this.#answers.kept()) {
      const { number, seq } = placeOf(question);
      const meta = this.#index.get(number);
      if (meta !== undefined) yield { position: { stream: meta.id, seq }, resumeToken, reply };
    }
  }

  /** The resume tokens of a stream's newest events, the newest first. */
  recentResumeTokens({ id }: StreamMeta): Iterable<string> {
    return this.#rows.resumeTokens(id.number, RECENT_TOKENS);
  }

  /** Finds the stream of an event id, if every later event of it is still kept. */
  find({ stream, seq }: Position): Found {
    if (!bearsMark(stream, this.#mark)) return { kind: "foreign" };
    this.expire();
    const meta =
      this.#index.find(stream) ?? (seq === 0 ? this.#index.inPlaceOf(stream) : undefined);
    if (meta === undefined || seq > meta.last) return { kind: "unknown" };
    return seq < meta.first ? { kind: "gone" } : { kind: "found", meta };
  }

  /** Notes the last event that the client has: a finished stream that it has whole is dropped first. */
  acknowledge(meta: StreamMeta, seq: number): void {
    meta.isAcknowledged ||= meta.isEnded && seq === meta.last;
  }

  /** Keeps an event until there is a standalone stream to carry it. */
  appendToBacklog(data: string, options: AppendOptions): void {
    this.append(this.#index.backlog() ?? this.#open("backlog"), data, options);
  }

  /**
   * Moves the waiting events to the stream that carries them from now on.
   *
   * @param placed adapts an event's data to its new place.
   * @returns `true` when events that waited are no longer kept.
   */
  moveBacklog(
    to: StreamMeta,
    placed: (data: string, seq: number) => string = (data) => data,
  ): boolean {
    const backlog = this.#index.backlog();
    if (backlog === undefined) return false;
    const hasLost = backlog.first > 0;
    for (let after = backlog.first; after < backlog.last;) {
      const events = this.read(backlog, after, MOVED_CHARS);
      for (const { seq, data, resumeToken } of events) {
        const first = to.last + 1;
        this.append(to, placed(data, first), { resumeToken });
        if (seq <= backlog.inherited) this.#moved.add(rowId(to.id.number, first));
      }
      after = events.at(-1)?.seq ?? backlog.last;
    }
    this.#index.forget(backlog);
    return hasLost;
  }

  /** Deletes events past their retention: on reading as well as by alarm, which may be late. */
  expire(): void {
    this.#index.expire(this.#now());
  }

  /** When `expire` is due next, in milliseconds since 1970; `undefined` when no event will expire. */
  expiresAt(): number | undefined {
    return this.#index.expiresAt();
  }

  #open(kind: StreamKind, nonce = this.#mark + this.#random()): StreamMeta {
    this.#index.makeRoomForStream();
    const id = { kind, number: this.#index.nextNumber(), nonce };
    return this.#index.add(emptyStreamMeta(id, 0, this.#now()));
  }

  #write(
    meta: StreamMeta,
    row: Pick<Row, "seq" | "at" | "state" | "data" | "resumeToken">,
    isShared: boolean,
  ): void {
    if (keptRows(meta) === 0 || row.seq === 0) meta.oldestAt = row.at;
    meta.last = row.seq;
    meta.newestAt = row.at;
    meta.resumeToken = row.resumeToken ?? meta.resumeToken;
    meta.chars += row.data.length + (meta.resumeToken?.length ?? 0);
    if (!this.#index.has(meta)) return;
    // The newest row of a stream always has its resume token, so that one read finds it.
    const { chars, resumeToken } = meta;
    this.#rows.add({ ...meta.id, ...row, events: 1, chars, resumeToken }, isShared);
    this.#onWrite?.();
  }
}
