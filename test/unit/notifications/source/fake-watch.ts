/** A server as a watch manager sees it through its watch, with nothing in between. */

import { LIST_TOPICS, type Topic } from "../../../../src/catalog/feeds.ts";
import { uriOf, topicOf } from "../../../../src/catalog/topics.ts";
import type {
  OpenWatch,
  WatchEnd,
  WatchEvents,
} from "../../../../src/notifications/source/watch-port.ts";

export class FakeServer {
  isUp = true;
  /** What a watch waits for before it is there, or is found not to be. */
  reached: Promise<void> = Promise.resolve();
  /** Topics that it does not tell of. */
  readonly untold = new Set<Topic>();
  /** How often a watch was opened, or would have been. */
  attempts = 0;
  /** Whether each retry is to ask for what was refused. */
  readonly retries: boolean[] = [];
  #watch: FakeWatch | undefined;

  /** The `open` of a watch manager or a watch. */
  readonly open = async (uris: ReadonlySet<string>, events: WatchEvents): Promise<OpenWatch> => {
    this.attempts += 1;
    await this.reached;
    if (!this.isUp) throw new Error("down");
    this.#watch?.end("lost");
    this.#watch = new FakeWatch(this, uris, events);
    return this.#watch;
  };

  get isWatched(): boolean {
    return this.#watch?.isOver === false;
  }

  /** Something changes; it is heard by whoever listens. */
  change(topic: Topic): void {
    this.#watch?.hear(topic);
  }

  end(end: WatchEnd): void {
    this.#watch?.end(end);
  }

  /** Whoever watched is there no longer, and hears of nothing. */
  lose(): void {
    void this.#watch?.close();
  }

  miss(): void {
    this.#watch?.miss();
  }
}

class FakeWatch implements OpenWatch {
  readonly isReceiving = true;
  isOver = false;
  readonly #server: FakeServer;
  readonly #events: WatchEvents;
  readonly #wanted: ReadonlySet<string>;
  readonly #asked = new Set<string>();

  constructor(server: FakeServer, wanted: ReadonlySet<string>, events: WatchEvents) {
    this.#server = server;
    this.#events = events;
    this.#wanted = wanted;
    setTimeout(() => {
      this.#judge(LIST_TOPICS);
      this.revise([...wanted]);
    });
  }

  verdict(topic: Topic): boolean | undefined {
    const uri = uriOf(topic);
    if (uri !== undefined && !this.#asked.has(uri)) return undefined;
    return !this.#server.untold.has(topic);
  }

  revise(uris: readonly string[]): void {
    queueMicrotask(() => {
      for (const uri of uris) {
        if (!this.#wanted.has(uri)) this.#asked.delete(uri);
        else if (!this.#asked.has(uri)) {
          this.#asked.add(uri);
          this.#judge([topicOf(uri)]);
        }
      }
    });
  }

  retry(isRefusedToo: boolean): void {
    this.#server.retries.push(isRefusedToo);
  }

  close(): Promise<void> {
    this.isOver = true;
    return Promise.resolve();
  }

  hear(topic: Topic): void {
    if (this.isOver) return;
    const uri = uriOf(topic);
    if (uri !== undefined && this.#asked.has(uri)) this.#events.updated(uri);
    else if (uri === undefined) this.#events.changed(topic as "tools");
  }

  miss(): void {
    if (!this.isOver) this.#events.missed();
  }

  end(end: WatchEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#events.ended(end);
  }

  #judge(topics: readonly Topic[]): void {
    if (!this.isOver) this.#events.answered(topics);
  }
}
