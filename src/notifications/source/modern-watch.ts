/**
 * The watch on a modern server: one `subscriptions/listen` stream for all lists and all URIs. A
 * stream cannot be changed, so another set of URIs takes another stream, which is acknowledged
 * before the first is closed: events of both are accepted, so none in between is lost. The first is read
 * for a moment longer, since the acknowledgement may overtake an event that the server had sent on it. The
 * server announces a change on both, which is announced once. A server may refuse all URIs because of one that
 * it does not know: that one is found by bisection.
 */

import type { Topic } from "../../catalog/feeds.ts";
import { LIST_TOPICS } from "../../catalog/feeds.ts";
import { openListen, type AcknowledgedTopics } from "./watch-listen.ts";
import { isListTopic, type ListTopic, uriOf, topicOf } from "../../catalog/topics.ts";
import type { OpenWatch, WatchEnd, WatchEvents, WatchRequest } from "./watch-port.ts";

/** Subscriptions come in bursts: one client brings many. */
const COLLECT_MS = 50;
/** Every new URI sends all of them again, so a larger set is sent less often. */
const COLLECT_MS_PER_URI = 0.1;
/** Within this time, a stream that was just acknowledged delivers what its predecessor delivered too. */
const CAUGHT_UP_MS = 100;
/** For so long a stream is read after its successor was acknowledged. */
const DRAINED_MS = 1000;
/** Of those streams, so that a burst of subscriptions does not hold many. */
const MAX_DRAINING = 2;
/** Of streams, until it is asked to try again: four culprits are found among ten thousand. */
const MAX_REFUSALS = 64;

interface Stream {
  readonly asked: ReadonlySet<string>;
  readonly close: () => void;
  /** Lists that it or its predecessor announced as changed: announced once both have had time to do so. */
  readonly awaited: Set<ListTopic>;
  acknowledged: AcknowledgedTopics | undefined;
  isOver: boolean;
}

export class ModernWatch implements OpenWatch {
  readonly #request: WatchRequest;
  readonly #events: WatchEvents;
  /** The acknowledged stream. */
  #current: Stream | undefined;
  /** The stream that is to replace it. */
  #next: Stream | undefined;
  /** The lists that any stream was acknowledged with. */
  readonly #lists = new Set<ListTopic>();
  /** URIs of a stream that the server refused; they may be valid. */
  #failed: ReadonlySet<string> = new Set();
  /** URIs that it refused when no other was new. */
  readonly #culprits = new Set<string>();
  /** Sets that contain a culprit: they are asked for one set after the other. */
  #suspects: readonly ReadonlySet<string>[] = [];
  #refusals = 0;
  /** Streams that were replaced, and are still read. */
  readonly #draining: Stream[] = [];
  /** Resources that one of the streams announced as changed, and that another is about to announce as well. */
  readonly #updatedUris = new Set<string>();
  #timer: number | null = null;
  #updatedTimer: number | null = null;
  #catchUpTimer: number | null = null;
  #drainTimer: number | null = null;
  /** The acknowledged stream is to be replaced by one that asks for the same. */
  #isDoubted = false;
  /** The server did not take a stream for fewer URIs, so the acknowledged one stays until it is asked to try again. */
  #isKept = false;
  #isRefused = false;
  #isOver = false;

  constructor(request: WatchRequest, events: WatchEvents) {
    this.#request = request;
    this.#events = events;
    this.#open(new Set(request.uris));
  }

  get isReceiving(): boolean {
    return this.#current?.isOver === false;
  }

  verdict(topic: Topic): boolean | "failed" | undefined {
    if (this.#isRefused) return false;
    const acknowledged = this.#current?.acknowledged;
    if (isListTopic(topic)) return acknowledged?.lists.has(topic);
    const uri = uriOf(topic);
    if (uri === undefined) return false;
    if (acknowledged?.uris.has(uri) === true) return true;
    if (this.#failed.has(uri)) return "failed";
    if (this.#culprits.has(uri)) return false;
    return this.#current?.asked.has(uri) === true ? false : undefined;
  }

  revise(): void {
    // A refused URI that is not wanted any more may be asked for again later.
    const { uris } = this.#request;
    this.#failed = new Set([...this.#failed].filter((uri) => uris.has(uri)));
    for (const uri of this.#culprits) if (!uris.has(uri)) this.#culprits.delete(uri);
    this.#isKept = false;
    this.#openLater();
  }

  retry(isRefusedToo: boolean): void {
    this.#retryFailed();
    this.#isKept = false;
    if (isRefusedToo && this.#isLessThanAsked()) this.#isDoubted = true;
    this.#openLater();
  }

  /** @returns whether it has left out a wanted resource, or a list that it acknowledged before. */
  #isLessThanAsked(): boolean {
    const { asked, acknowledged } = this.#current ?? {};
    if (asked === undefined || acknowledged === undefined) return false;
    const { uris } = this.#request;
    const isLeftOut = (uri: string): boolean => uris.has(uri) && !acknowledged.uris.has(uri);
    return (
      [...asked].some(isLeftOut) || [...this.#lists].some((list) => !acknowledged.lists.has(list))
    );
  }

  /** One culprit at a time: together, they would have to be separated again. */
  #retryFailed(): void {
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
    this.#stop();
    this.#next?.close();
    this.#current?.close();
    return Promise.resolve();
  }

  /** While a stream waits for its acknowledgement, further changes wait too. */
  #openLater(): void {
    if (this.#isOver || this.#next !== undefined || this.#timer !== null) return;
    if (this.#openNext() || !this.#isStale()) return;
    const delayMs = COLLECT_MS + COLLECT_MS_PER_URI * this.#request.uris.size;
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
      if (!this.#isStale()) continue; // they are not wanted any more
      this.#open(new Set(this.#wanted()));
      return true;
    }
    return false;
  }

  /** @returns the wanted URIs without those that are not to be asked for now. */
  #wanted(): ReadonlySet<string> {
    const left = [this.#failed, this.#culprits, ...this.#suspects];
    return left.reduce((uris, others) => without(uris, others), this.#request.uris);
  }

  #isStale(): boolean {
    const wanted = this.#wanted();
    const asked = this.#current?.asked;
    if (this.#isDoubted || asked === undefined || without(wanted, asked).size > 0) return true;
    return asked.size !== wanted.size && !this.#isKept;
  }

  #open(asked: ReadonlySet<string>): void {
    this.#isDoubted = false;
    this.#isKept = false;
    const close = openListen({
      ...this.#request,
      uris: asked,
      events: {
        changed: (list) => this.#changed(list),
        updated: (uri) => this.#updated(uri),
      },
      onAcknowledged: (acknowledged) => this.#acknowledged(stream, acknowledged),
      onEnded: (end) => this.#ended(stream, end),
    });
    const awaited = new Set<ListTopic>();
    const stream: Stream = { asked, close, awaited, acknowledged: undefined, isOver: false };
    this.#next = stream;
  }

  /**
   * A change that one stream brings while another is opened, or is still read after it was replaced, comes on both, or
   * on one alone. So it is announced when both have had time to deliver it.
   */
  #changed(list: ListTopic): void {
    if (this.#current?.awaited.has(list) === true) return; // about to be announced
    const isOnBoth = this.#catchUpTimer !== null || this.#draining.length > 0;
    const newest = this.#next ?? (isOnBoth ? this.#current : undefined);
    if (this.#current === undefined || newest === undefined) {
      this.#events.changed(list);
      return;
    }
    newest.awaited.add(list);
    if (newest === this.#current) {
      this.#catchUpTimer ??= setTimeout(() => this.#caughtUp(newest), CAUGHT_UP_MS);
    }
    this.#events.outdated(list);
  }

  /** The same, where a stream that was replaced is still read. */
  #updated(uri: string): void {
    if (this.#draining.length === 0) {
      this.#events.updated(uri);
      return;
    }
    this.#updatedUris.add(uri);
    this.#updatedTimer ??= setTimeout(() => {
      this.#updatedTimer = null;
      const uris = [...this.#updatedUris];
      this.#updatedUris.clear();
      for (const each of uris) this.#events.updated(each);
    }, CAUGHT_UP_MS);
  }

  #announceAwaited({ awaited }: Stream): void {
    const lists = [...awaited];
    awaited.clear();
    for (const list of lists) this.#events.changed(list);
  }

  #acknowledged(stream: Stream, acknowledged: AcknowledgedTopics): void {
    const before = this.#current;
    stream.acknowledged = acknowledged;
    this.#next = undefined;
    this.#current = stream;
    if (before !== undefined) {
      this.#announceAwaited(before);
      if (!before.isOver) this.#drain(before);
      clearTimeout(this.#catchUpTimer);
      this.#catchUpTimer = setTimeout(() => this.#caughtUp(stream), CAUGHT_UP_MS);
    }
    for (const list of acknowledged.lists) this.#lists.add(list);
    // Topics that the previous stream covered until now, and this one covers, have missed nothing.
    const covered = before?.isOver === false ? before.acknowledged : undefined;
    const lists = LIST_TOPICS.filter(
      (list) => covered?.lists.has(list) !== true || !acknowledged.lists.has(list),
    );
    const uris = [...stream.asked].filter(
      (uri) => covered?.uris.has(uri) !== true || !acknowledged.uris.has(uri),
    );
    this.#events.answered([...lists, ...uris.map(topicOf)]);
    this.#openLater();
  }

  #caughtUp(stream: Stream): void {
    this.#catchUpTimer = null;
    this.#announceAwaited(stream);
  }

  #drain(replaced: Stream): void {
    this.#draining.push(replaced);
    if (this.#draining.length > MAX_DRAINING) this.#draining.shift()?.close();
    clearTimeout(this.#drainTimer);
    this.#drainTimer = setTimeout(() => this.#drained(), DRAINED_MS);
  }

  #drained(): void {
    for (const { close } of this.#draining.splice(0)) close();
  }

  #ended(stream: Stream, end: WatchEnd): void {
    stream.isOver = true;
    this.#announceAwaited(stream);
    const drained = this.#draining.indexOf(stream);
    if (drained >= 0) {
      this.#draining.splice(drained, 1);
      // It counted as open when its successor was acknowledged, which may have overtaken the news that it had broken. A
      // stream that its server has ended as it should has delivered everything.
      if (end !== "closed") this.#events.missed();
    } else if (stream === this.#next) {
      this.#next = undefined;
      this.#notOpened(stream, end);
    } else if (stream === this.#current && this.#next === undefined) {
      // A stream that waits for its acknowledgement may still replace it.
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
      // The lists are watched without the resources.
      this.#open(new Set());
      return;
    }
    // The acknowledged stream stays; only the new one has failed.
    this.#isKept = added.size === 0;
    this.#events.answered([...this.#failed, ...this.#culprits].map(topicOf));
    // With what has come to be wanted meanwhile.
    this.#openLater();
  }

  /** The server refuses one of these, or their number. */
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

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#updatedTimer);
    clearTimeout(this.#catchUpTimer);
    clearTimeout(this.#drainTimer);
    this.#drained();
  }

  #end(end: WatchEnd): void {
    if (this.#isOver) return;
    this.#stop();
    if (end === "refused") {
      this.#isRefused = true;
      this.#events.answered([...LIST_TOPICS, ...[...this.#request.uris].map(topicOf)]);
    }
    this.#events.ended(end);
  }
}

function without(uris: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return others.size === 0 ? uris : new Set([...uris].filter((uri) => !others.has(uri)));
}
