/**
 * The watch on a modern server: one `subscriptions/listen` stream for all lists and all URIs. A
 * stream cannot be changed, so another set of URIs takes another stream, which is acknowledged
 * before the first is closed: what either brings is told, and nothing in between is lost. A server
 * may refuse them all for one that it does not know: that one is looked for, half by half.
 */

import type { Topic } from "../../catalog/feeds.ts";
import { LIST_TOPICS } from "../../catalog/feeds.ts";
import { openListen, type AcknowledgedTopics } from "./watch-listen.ts";
import { isListTopic, uriOf, topicOf } from "../../catalog/topics.ts";
import type { OpenWatch, WatchEnd, WatchEvents, WatchRequest } from "./watch-port.ts";

/** Subscriptions come in bursts: one client brings many. */
const COLLECT_MS = 50;
/** All of them are sent again with each one that is new, so many are sent less often. */
const COLLECT_MS_PER_URI = 0.1;
/** Of streams, until it is asked to try again: four culprits are found among ten thousand. */
const MAX_REFUSALS = 64;

interface Stream {
  readonly asked: ReadonlySet<string>;
  readonly close: () => void;
  told: AcknowledgedTopics | undefined;
  isOver: boolean;
}

export class ModernWatch implements OpenWatch {
  readonly #order: WatchRequest;
  readonly #events: WatchEvents;
  /** The one that was acknowledged. */
  #current: Stream | undefined;
  /** The one that is to take its place. */
  #next: Stream | undefined;
  /** Those of a stream that the server would not open, which may be good. */
  #failed: ReadonlySet<string> = new Set();
  /** Those that it refused when nothing else was new. */
  readonly #culprits = new Set<string>();
  /** Those among which there is a culprit: they are asked for one set after the other. */
  #suspects: readonly ReadonlySet<string>[] = [];
  #refusals = 0;
  #timer: number | null = null;
  #isRefused = false;
  #isOver = false;

  constructor(order: WatchRequest, events: WatchEvents) {
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
    if (isListTopic(topic)) return told?.lists.has(topic);
    const uri = uriOf(topic);
    if (told?.uris.has(uri) === true) return true;
    if (this.#culprits.has(uri) || this.#failed.has(uri)) return false;
    return this.#current?.asked.has(uri) === true ? false : undefined;
  }

  revise(): void {
    // What is not wanted any more may be asked for again.
    const { uris } = this.#order;
    this.#failed = new Set([...this.#failed].filter((uri) => uris.has(uri)));
    for (const uri of this.#culprits) if (!uris.has(uri)) this.#culprits.delete(uri);
    this.#openLater();
  }

  /** One culprit at a time: together, they would have to be told apart again. */
  retry(): void {
    const [culprit] = this.#culprits;
    const again = [this.#failed, new Set(culprit === undefined ? [] : [culprit])];
    const sets = again.filter(({ size }) => size > 0);
    if (sets.length === 0) return;
    this.#refusals = 0;
    this.#failed = new Set();
    if (culprit !== undefined) this.#culprits.delete(culprit);
    this.#suspects = [...this.#suspects, ...sets];
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
    if (this.#openNext() || !this.#isStale()) return;
    const delayMs = COLLECT_MS + COLLECT_MS_PER_URI * this.#order.uris.size;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#next !== undefined || this.#openNext()) return;
      if (this.#isStale()) this.#open(new Set(this.#wanted()));
    }, delayMs);
  }

  /** Asks for the next set of suspects. @returns whether there was any. */
  #openNext(): boolean {
    for (let [set, ...rest] = this.#suspects; set !== undefined; [set, ...rest] = this.#suspects) {
      this.#suspects = rest;
      if (!this.#isStale()) continue; // nobody wants them any more
      this.#open(new Set(this.#wanted()));
      return true;
    }
    return false;
  }

  /** Without those that are not to be asked for now. */
  #wanted(): ReadonlySet<string> {
    const left = [this.#failed, this.#culprits, ...this.#suspects];
    return left.reduce((uris, others) => without(uris, others), this.#order.uris);
  }

  #isStale(): boolean {
    const wanted = this.#wanted();
    const asked = this.#current?.asked;
    return asked?.size !== wanted.size || without(wanted, asked).size > 0;
  }

  #open(asked: ReadonlySet<string>): void {
    const close = openListen({
      ...this.#order,
      ...{ uris: asked, events: this.#events },
      onAcknowledged: (told) => this.#acknowledged(stream, told),
      onEnded: (end) => this.#ended(stream, end),
    });
    const stream: Stream = { asked, close, told: undefined, isOver: false };
    this.#next = stream;
  }

  #acknowledged(stream: Stream, told: AcknowledgedTopics): void {
    const before = this.#current;
    stream.told = told;
    this.#next = undefined;
    this.#current = stream;
    before?.close();
    // What the stream before this one has heard until now is known.
    const heard = before?.isOver === false ? before.told : undefined;
    const isNews = (topic: Topic): boolean =>
      isListTopic(topic)
        ? heard?.lists.has(topic) !== true
        : heard?.uris.has(uriOf(topic)) !== true;
    this.#events.judged([...LIST_TOPICS, ...[...stream.asked].map(topicOf)].filter(isNews));
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
    const standing = this.#current?.isOver === false ? this.#current : undefined;
    if (standing === undefined && (end !== "refused" || asked.size === 0)) {
      this.#end(end);
      return;
    }
    const added = standing === undefined ? asked : without(asked, standing.asked);
    if (end === "refused") this.#suspect(added);
    else this.#failed = new Set([...this.#failed, ...added]);
    if (standing === undefined) {
      // The lists do without resources.
      this.#open(new Set());
      return;
    }
    // What stands is better than nothing; only what is new has failed.
    this.#events.judged([...this.#failed, ...this.#culprits].map(topicOf));
    this.#openNext();
  }

  /** The server takes offence at one of these, or at their number. */
  #suspect(uris: ReadonlySet<string>): void {
    const all = [...uris];
    this.#refusals += 1;
    if (all.length <= 1) {
      for (const uri of all) this.#culprits.add(uri);
    } else if (this.#refusals < MAX_REFUSALS) {
      const middle = Math.ceil(all.length / 2);
      const halves = [new Set(all.slice(0, middle)), new Set(all.slice(middle))];
      this.#suspects = [...halves, ...this.#suspects];
    } else {
      this.#failed = new Set([
        ...this.#failed,
        ...all,
        ...this.#suspects.flatMap((set) => [...set]),
      ]);
      this.#suspects = [];
    }
  }

  #end(end: WatchEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (end === "refused") {
      this.#isRefused = true;
      this.#events.judged([...LIST_TOPICS, ...[...this.#order.uris].map(topicOf)]);
    }
    this.#events.ended(end);
  }
}

function without(uris: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return others.size === 0 ? uris : new Set([...uris].filter((uri) => !others.has(uri)));
}
