/**
 * Whether the storage of each session is within its limits, read from its tables whenever a write is confirmed.
 *
 * - A stream of a call keeps `keptEventsPerStream` events and `keptBytesPerStream` characters, its opening record
 *   included, and beyond them one answer to each of its requests. A record alone may be larger.
 * - A stream that never ends keeps as many events and characters. Its newest event alone may be larger.
 * - All streams together keep `keptBytesPerSession` characters, and beyond them the records and answers of calls,
 *   and the newest event of each stream that never ends.
 * - A stream of a call that is opened makes the streams `keptStreamsPerSession`, unless none of them had ended.
 * - An answer is kept only beside the stream of its question.
 */

import type { Ledger } from "../outside/ledger.ts";
import { QuotaModel, type Quotas } from "../outside/quotas.ts";
import type { Life } from "../platform/life.ts";
import { LiveStorage } from "../platform/storage.ts";
import type { World } from "../platform/world.ts";

/** As `src/sessions/log/event-rows.ts` lays out its table. */
const STREAM_ROWS = 2 ** 26;
const FINAL = 2;
const EXPIRED = 4;
const COUNT_SHIFT = 3;

const CONFIRMED = /^(SessionObject \d+): writes are confirmed$/;

interface EventRow {
  readonly id: number;
  readonly kind: string;
  readonly nonce: string;
  readonly at: number;
  readonly state: number;
  readonly data: string;
  readonly origin: string | null;
}

interface KeptEvent {
  readonly seq: number;
  readonly data: string;
  /** Characters, with those of its resume token. */
  readonly size: number;
}

interface KeptStream {
  readonly number: number;
  readonly name: string;
  readonly isPost: boolean;
  readonly isEnded: boolean;
  /** Without answers. */
  readonly events: number;
  readonly chars: number;
  readonly answers: number;
  /** Of the opening record, and of an event that is kept however large it is. */
  readonly freeChars: number;
  readonly requests: number;
}

/** Where the limits are small, tells the model, and looks at what sessions keep. */
export function watchQuotas(
  limits: Quotas | undefined,
  world: World,
  ledger: Ledger,
): QuotaCheck | undefined {
  if (limits === undefined) return undefined;
  ledger.quotas = new QuotaModel(limits, () => world.scheduler.now, ledger);
  const check = new QuotaCheck(world, limits, (finding) => ledger.find(finding));
  world.onStep((label) => check.after(label));
  return check;
}

class QuotaCheck {
  readonly #world: World;
  readonly #limits: Quotas;
  readonly #find: (finding: string) => void;
  /** Streams that had ended when a life was looked at last. */
  readonly #ended = new WeakMap<Life, ReadonlySet<string>>();
  readonly #posts = new WeakMap<Life, ReadonlySet<string>>();
  readonly #found = new Set<string>();

  constructor(world: World, limits: Quotas, find: (finding: string) => void) {
    this.#world = world;
    this.#limits = limits;
    this.#find = find;
  }

  /** @param label of the step that was taken. */
  after(label: string): void {
    const name = CONFIRMED.exec(label)?.[1];
    if (name !== undefined) this.look(name);
  }

  /** @param name of one object; without it, every session is looked at. */
  look(name?: string): void {
    for (const life of this.#world.lives()) {
      const isIt = name === undefined ? life.name.startsWith("SessionObject") : life.name === name;
      if (isIt) this.#lookAt(life);
    }
  }

  #lookAt(life: Life): void {
    const rows = rowsOf(life.storage, "events_1") as unknown as readonly EventRow[];
    const streams = streamsIn(rows);
    for (const stream of streams) this.#checkStream(life.name, stream);
    const free = streams.reduce((sum, { freeChars }) => sum + freeChars, 0);
    const chars = streams.reduce((sum, stream) => sum + stream.chars, 0) - free;
    const { keptBytesPerSession = Infinity } = this.#limits;
    if (chars > keptBytesPerSession)
      this.#report(`${life.name} keeps ${chars} characters, of ${keptBytesPerSession}`);
    this.#checkCount(life, streams);
    const numbers = new Set(streams.map(({ number }) => number));
    for (const { question } of rowsOf(life.storage, "answers_1")) {
      if (!numbers.has(Math.floor(Number(question) / STREAM_ROWS)))
        this.#report(`${life.name} keeps an answer without its question`);
    }
  }

  #checkStream(session: string, stream: KeptStream): void {
    const { keptEventsPerStream = Infinity, keptBytesPerStream = Infinity } = this.#limits;
    const { name, events, chars, answers, requests, freeChars } = stream;
    if (events > keptEventsPerStream)
      this.#report(`${session} keeps ${events} events of ${name}, of ${keptEventsPerStream}`);
    // The record, or the one event, may be larger.
    if (chars > Math.max(keptBytesPerStream, freeChars))
      this.#report(`${session} keeps ${chars} characters of ${name}, of ${keptBytesPerStream}`);
    if (answers > requests)
      this.#report(`${session} keeps ${answers} answers to ${requests} requests of ${name}`);
  }

  #checkCount(life: Life, streams: readonly KeptStream[]): void {
    const { keptStreamsPerSession = Infinity } = this.#limits;
    const had = this.#ended.get(life);
    const known = this.#posts.get(life);
    const isOpened = streams.some(({ name, isPost }) => isPost && known?.has(name) === false);
    const isOldThere = streams.some(({ name }) => had?.has(name) === true);
    if (isOpened && isOldThere && streams.length > keptStreamsPerSession)
      this.#report(`${life.name} keeps ${streams.length} streams, of ${keptStreamsPerSession}`);
    this.#ended.set(life, new Set(streams.flatMap((each) => (each.isEnded ? [each.name] : []))));
    this.#posts.set(life, new Set(streams.map(({ name }) => name)));
  }

  #report(finding: string): void {
    const kind = finding.replaceAll(/\d+/g, "");
    if (!this.#found.has(kind)) this.#find(finding);
    this.#found.add(kind);
  }
}

/** @returns what sessions still keep when every limit has passed: a row that marks a place, or an answer, has no text. */
export function keptTooLong(world: World): readonly string[] {
  const slots = [...(world.namespaces.get("SESSIONS")?.slots.values() ?? [])];
  return slots.flatMap(({ name, className, disk, life }) => {
    const storage = life?.storage ?? new LiveStorage(className, disk, () => undefined);
    const isDeleted = storage.kv.has("deleted");
    const rows = rowsOf(storage, "events_1") as unknown as readonly EventRow[];
    const events = rows.filter(({ state }) => isDeleted || (state & EXPIRED) === 0).length;
    const answers = rowsOf(storage, "answers_1").filter(
      ({ reply }) => isDeleted || reply !== "",
    ).length;
    if (life === undefined) storage.close();
    return [
      ...(events > 0 ? [`${name} keeps ${events} events`] : []),
      ...(answers > 0 ? [`${name} keeps ${answers} answers`] : []),
    ];
  });
}

function rowsOf(storage: LiveStorage, table: string): readonly Record<string, unknown>[] {
  const there = storage.exec("SELECT 1 FROM sqlite_master WHERE name = ?", [table]);
  return there.rowsRead === 0 ? [] : storage.exec(`SELECT * FROM ${table}`, []).toArray();
}

function streamsIn(rows: readonly EventRow[]): readonly KeptStream[] {
  const byStream = Map.groupBy(rows, ({ id }) => Math.floor(id / STREAM_ROWS));
  return [...byStream].map(([number, its]) => streamOf(number, its));
}

/** @param rows by their places. */
function streamOf(number: number, rows: readonly EventRow[]): KeptStream {
  const isPost = rows[0]?.kind === "post";
  const kept = rows.flatMap((row) => eventsOf(row));
  const answered = kept.filter(({ seq, data }) => isPost && seq > 0 && !isRequest(data));
  const record = isPost ? kept.find(({ seq }) => seq === 0) : undefined;
  return {
    number,
    name: `${rows[0]?.kind} stream ${number} ${rows[0]?.nonce}`,
    isPost,
    isEnded: ((rows.at(-1)?.state ?? 0) & FINAL) !== 0,
    events: kept.length - answered.length,
    chars: sizeOf(kept) - sizeOf(answered),
    answers: answered.length,
    freeChars: sizeOf((isPost ? record : kept.at(-1)) ?? []),
    requests: record === undefined ? 0 : (JSON.parse(record.data) as unknown[]).length,
  };
}

/** Those that share a row are on a line each. The last of them has the place and the token. */
function eventsOf({ id, state, data, origin }: EventRow): readonly KeptEvent[] {
  if ((state & EXPIRED) !== 0) return [];
  const seq = id % STREAM_ROWS;
  const lines = state >> COUNT_SHIFT === 0 ? [data] : data.split("\n");
  const last = lines.length - 1;
  return lines.map((line, index) => {
    const token = index === last ? (origin?.length ?? 0) : 0;
    return { seq: seq - last + index, data: line, size: line.length + token };
  });
}

function isRequest(data: string): boolean {
  return "method" in (JSON.parse(data) as object);
}

function sizeOf(events: KeptEvent | readonly KeptEvent[]): number {
  return [events].flat().reduce((all, { size }) => all + size, 0);
}
