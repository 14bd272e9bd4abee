/**
 * What a session has heard of changes, and what its client has. While no stream of the client's is
 * open, changes wait, each thing once; a client that stays away for long is told, when it is back,
 * that everything may have changed. What is written goes into one row, in the turn in which the
 * message goes into the log, so that no life of the session's holder tells it twice.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import type { Unsolicited } from "../../sessions/dispatch.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { wordOf } from "../../catalog/topics.ts";

/** Plain data. */
export interface SavedInbox {
  /** The last piece of news of each server. */
  readonly seqs: Readonly<Record<string, number>>;
  /** What the client is to be told when it listens, and since when, in milliseconds since 1970. */
  readonly unread?: readonly Topic[];
  readonly unreadSince?: number;
  /** Since when nobody listens, if that was noted, in milliseconds since 1970. */
  readonly awaySince?: number;
  /** Whoever brings the news was told to forget the session: it has missed something. */
  readonly isParked?: true;
}

export type Delivery =
  | "taken"
  /** There is no such session. */
  | "gone"
  /** Its client has been away for long: it is not to be told any more, and asks anew. */
  | "parked";

export interface NotificationInboxOptions {
  readonly unsolicited: Pick<Unsolicited, "notify" | "hasOpenStream">;
  readonly saved: SavedInbox | undefined;
  readonly save: (state: SavedInbox) => void;
  /** How long changes wait for a client that is away. */
  readonly retentionMs: number;
}

export class NotificationInbox {
  readonly #options: NotificationInboxOptions;
  readonly #seqs: Map<string, number>;
  readonly #unread: Set<Topic>;
  #unreadSince: number | undefined;
  #awaySince: number | undefined;
  #isParked: boolean;
  /** The client is back, and is about to be told that it has missed something. */
  #isReturning = false;

  constructor(options: NotificationInboxOptions) {
    const { seqs = {}, unread = [], isParked = false } = options.saved ?? {};
    this.#options = options;
    this.#seqs = new Map(Object.entries(seqs));
    this.#unread = new Set(unread);
    this.#unreadSince = options.saved?.unreadSince;
    this.#awaySince = options.saved?.awaySince;
    this.#isParked = isParked;
  }

  get isParked(): boolean {
    return this.#isParked && !this.#isReturning;
  }

  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /**
   * @param topics those of the news that the client wants to hear of.
   * @param isNew asked once of each that did not come before: whether nobody else told of it.
   */
  take({ slug, seq }: News, topics: readonly Topic[], isNew: (topic: Topic) => boolean): Delivery {
    if (this.isParked) return "parked";
    // It came before: whoever brings it did not learn that it was taken.
    if (topics.length === 0 || seq <= (this.#seqs.get(slug) ?? -Infinity)) return "taken";
    this.#seqs.set(slug, seq);
    const untold = topics.filter(isNew);
    if (this.#options.unsolicited.hasOpenStream()) this.#tell(untold);
    else if (untold.length > 0) {
      for (const topic of untold) this.#unread.add(topic);
      const now = Date.now();
      this.#unreadSince ??= now;
      if (now - this.#unreadSince > this.#options.retentionMs) this.#miss();
    }
    this.#save();
    return this.isParked ? "parked" : "taken";
  }

  /**
   * The client listens: it is told what has waited.
   *
   * @returns whether it has missed more than that: then `tellAll` is to follow.
   */
  listened(): boolean {
    this.#isReturning = this.#isParked;
    if (this.#unread.size > 0 || this.#awaySince !== undefined) {
      this.#awaySince = undefined;
      this.#tell([...this.#unread]);
      this.#forgetUnread();
      this.#save();
    }
    return this.#isReturning;
  }

  /** The client does not want to hear of this any more. */
  forget(topic: Topic): void {
    if (this.#unread.delete(topic)) this.#save();
  }

  /** Tells once that all of this may have changed, to a client that was away for long. */
  tellAll(topics: readonly Topic[]): void {
    this.#isReturning = false;
    // Gone again: it is told when it is back.
    if (!this.#isParked || !this.#options.unsolicited.hasOpenStream()) return;
    this.#isParked = false;
    this.#tell(topics);
    this.#save();
  }

  /** Nobody listens since then. */
  left(since: number): void {
    this.#awaySince = since;
    this.#save();
  }

  /** It is not told any more, until it listens. */
  park(): void {
    this.#miss();
    this.#save();
  }

  #miss(): void {
    this.#isParked = true;
    this.#forgetUnread();
  }

  #forgetUnread(): void {
    this.#unread.clear();
    this.#unreadSince = undefined;
  }

  /** In this very turn it is in the log; a reader that is slow is not waited for. */
  #tell(topics: readonly Topic[]): void {
    for (const topic of topics) {
      this.#options.unsolicited.notify(wordOf(topic)).catch(logUnexpected);
    }
  }

  #save(): void {
    this.#options.save({
      seqs: Object.fromEntries(this.#seqs),
      ...(this.#unread.size === 0 ? {} : { unread: [...this.#unread] }),
      ...(this.#unreadSince === undefined ? {} : { unreadSince: this.#unreadSince }),
      ...(this.#awaySince === undefined ? {} : { awaySince: this.#awaySince }),
      ...(this.#isParked ? { isParked: true } : {}),
    });
  }
}
