/**
 * The watch on a modern server: one `subscriptions/listen` stream for all lists and all URIs. A
 * stream cannot be changed, so another set of URIs takes another stream, which is acknowledged
 * before the first is closed: what either brings is told, and nothing in between is lost.
 */

import type { Topic } from "./feeds.ts";
import { LIST_TOPICS } from "./feeds.ts";
import { openListen, type Told } from "./watch-listen.ts";
import {
  isList,
  type OpenWatch,
  uriOf,
  uriTopic,
  type WatchEnd,
  type WatchEvents,
  type WatchOrder,
} from "./watch-port.ts";

/** Subscriptions come in bursts: one client brings many. */
const COLLECT_MS = 50;
/** All of them are sent again with each one that is new, so many are sent less often. */
const COLLECT_MS_PER_URI = 0.1;

interface Stream {
  readonly asked: ReadonlySet<string>;
  readonly close: () => void;
  told: Told | undefined;
  isOver: boolean;
}

export class ModernWatch implements OpenWatch {
  readonly #order: WatchOrder;
  readonly #events: WatchEvents;
  /** The one that was acknowledged. */
  #current: Stream | undefined;
  /** The one that is to take its place. */
  #next: Stream | undefined;
  /** Those of a stream that the server would not open. */
  #failed: ReadonlySet<string> = new Set();
  #timer: number | null = null;
  #count = 0;
  #isRefused = false;
  #isOver = false;

  constructor(order: WatchOrder, events: WatchEvents) {
    this.#order = order;
    this.#events = events;
    this.#open(new Set(order.uris));
  }

  get isHearing(): boolean {
    return this.#current?.isOver === false;
  }

  verdict(topic: Topic): boolean | undefined {
    if (this.#isRefused) return false;
    const told = this.#current?.told;
    if (isList(topic)) return told?.lists.has(topic);
    const uri = uriOf(topic) ?? "";
    if (told?.uris.has(uri) === true) return true;
    return this.#failed.has(uri) || this.#current?.asked.has(uri) === true ? false : undefined;
  }

  revise(): void {
    // What is not wanted any more may be asked for again.
    const { uris } = this.#order;
    this.#failed = new Set([...this.#failed].filter((uri) => uris.has(uri)));
    this.#openLater();
  }

  retry(): void {
    if (this.#failed.size === 0) return;
    this.#failed = new Set();
    this.#openLater();
  }

  close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#next?.close();
    this.#current?.close();
    return Promise.resolve();
  }

  /** While a stream waits for its acknowledgement, what comes meanwhile waits for that. */
  #openLater(): void {
    if (this.#isOver || this.#next !== undefined || this.#timer !== null) return;
    if (!this.#isStale()) return;
    const delayMs = COLLECT_MS + COLLECT_MS_PER_URI * this.#order.uris.size;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#next === undefined && this.#isStale()) this.#open(new Set(this.#wanted()));
    }, delayMs);
  }

  #wanted(): ReadonlySet<string> {
    return without(this.#order.uris, this.#failed);
  }

  #isStale(): boolean {
    const wanted = this.#wanted();
    const asked = this.#current?.asked;
    return asked?.size !== wanted.size || without(wanted, asked).size > 0;
  }

  #open(asked: ReadonlySet<string>): void {
    const close = openListen({
      ...this.#order,
      ...{ id: ++this.#count, uris: asked, events: this.#events },
      onAcknowledged: (told) => this.#acknowledged(stream, told),
      onEnded: (end) => this.#ended(stream, end),
    });
    const stream: Stream = { asked, close, told: undefined, isOver: false };
    this.#next = stream;
  }

  #acknowledged(stream: Stream, told: Told): void {
    const before = this.#current;
    stream.told = told;
    this.#next = undefined;
    this.#current = stream;
    before?.close();
    // What the stream before this one has heard until now is known.
    const heard = before?.isOver === false ? before.told : undefined;
    const isNews = (topic: Topic): boolean =>
      isList(topic)
        ? heard?.lists.has(topic) !== true
        : heard?.uris.has(uriOf(topic) ?? "") !== true;
    this.#events.judged([...LIST_TOPICS, ...[...stream.asked].map(uriTopic)].filter(isNews));
    this.#openLater();
  }

  #ended(stream: Stream, end: WatchEnd): void {
    stream.isOver = true;
    if (stream === this.#next) {
      this.#next = undefined;
      this.#notOpened(stream, end);
    } else if (this.#next === undefined) {
      // One that waits for its acknowledgement may still take its place.
      this.#end(end);
    }
  }

  #notOpened({ asked }: Stream, end: WatchEnd): void {
    const current = this.#current;
    if (current?.isOver === false) {
      // What stands is better than nothing; only what is new has failed.
      this.#failed = new Set([...this.#failed, ...without(asked, current.asked)]);
      this.#events.judged([...this.#failed].map(uriTopic));
    } else if (end === "refused" && asked.size > 0) {
      // It may be a URI that the server takes offence at, or their number: the lists do without.
      this.#failed = asked;
      this.#open(new Set());
    } else {
      this.#end(end);
    }
  }

  #end(end: WatchEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (end === "refused") {
      this.#isRefused = true;
      this.#events.judged([...LIST_TOPICS, ...[...this.#order.uris].map(uriTopic)]);
    }
    this.#events.ended(end);
  }
}

function without(uris: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return others.size === 0 ? uris : new Set([...uris].filter((uri) => !others.has(uri)));
}
