/**
 * The changes that a session has received, and those that its client has. While the client has no open
 * stream, changes wait, each topic once. A client that was away for long is notified on its return
 * that everything may have changed. The state is one row, written in the same turn as the message in
 * the log, so that no life of the session's Durable Object sends it twice.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import type { Unsolicited } from "../../sessions/dispatch.ts";
import type { News, Topic } from "../../catalog/feeds.ts";
import { notificationOf } from "../../catalog/topics.ts";
import type { DeliveryAnswer } from "../fan-out/deliveries.ts";

/** Plain data. */
export interface SavedInbox {
  /** The last piece of news of each server. */
  readonly seqs: Readonly<Record<string, number>>;
  /** The topics to announce when the client listens, and since when, in milliseconds since 1970. */
  readonly unread?: readonly Topic[];
  readonly unreadSince?: number;
  /** The time since which the client has not listened, if noted, in milliseconds since 1970. */
  readonly awaySince?: number;
  /** The fan-out was asked to forget the session, which has missed news since. */
  readonly isParked?: true;
}

export interface NotificationInboxOptions {
  readonly unsolicited: Pick<Unsolicited, "notify" | "hasOpenStream">;
  readonly saved: SavedInbox | undefined;
  readonly save: (state: SavedInbox) => void;
  /** Time for which changes wait for a client that is away, in milliseconds. */
  readonly retentionMs: number;
}

export class NotificationInbox {
  readonly #options: NotificationInboxOptions;
  readonly #seqs: Map<string, number>;
  readonly #unread: Set<Topic>;
  #unreadSince: number | undefined;
  #awaySince: number | undefined;
  #isOffline: boolean;
  /** The client is back, and is about to be notified that it has missed changes. */
  #isReturning = false;

  constructor(options: NotificationInboxOptions) {
    const { seqs = {}, unread = [], isParked: isOffline = false } = options.saved ?? {};
    this.#options = options;
    this.#seqs = new Map(Object.entries(seqs));
    this.#unread = new Set(unread);
    this.#unreadSince = options.saved?.unreadSince;
    this.#awaySince = options.saved?.awaySince;
    this.#isOffline = isOffline;
  }

  get isOffline(): boolean {
    return this.#isOffline && !this.#isReturning;
  }

  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /**
   * @param topics those of the news that the client wants.
   * @param isNew called once for each topic of new news: whether no other source announced it.
   */
  take(
    { slug, seq }: News,
    topics: readonly Topic[],
    isNew: (topic: Topic) => boolean,
  ): DeliveryAnswer {
    if (this.isOffline) return "offline";
    // A repetition: the fan-out did not learn that the session took it.
    if (topics.length === 0 || seq <= (this.#seqs.get(slug) ?? -Infinity)) return "taken";
    this.#seqs.set(slug, seq);
    return this.add(topics.filter(isNew));
  }

  /** Takes topics that have changed, from wherever that is known. */
  add(unsent: readonly Topic[]): DeliveryAnswer {
    if (this.isOffline) return "offline";
    if (this.#options.unsolicited.hasOpenStream()) this.#notify(unsent);
    else if (unsent.length > 0) {
      for (const topic of unsent) this.#unread.add(topic);
      const now = Date.now();
      this.#unreadSince ??= now;
      if (now - this.#unreadSince > this.#options.retentionMs) this.#miss();
    }
    this.#save();
    return this.isOffline ? "offline" : "taken";
  }

  /**
   * The client listens: it gets the changes that have waited.
   *
   * @returns whether it has missed more than these: then `announceAll` must follow.
   */
  listened(): boolean {
    this.#isReturning = this.#isOffline;
    if (this.#unread.size > 0 || this.#awaySince !== undefined) {
      this.#awaySince = undefined;
      this.#notify([...this.#unread]);
      this.#forgetUnread();
      this.#save();
    }
    return this.#isReturning;
  }

  /** The client has unsubscribed from the topic. */
  forget(topic: Topic): void {
    if (this.#unread.delete(topic)) this.#save();
  }

  /** Notifies a client that was away for long, once, that all of these may have changed. */
  announceAll(topics: readonly Topic[]): void {
    this.#isReturning = false;
    // The client has left again: it is notified when it is back.
    if (!this.#isOffline || !this.#options.unsolicited.hasOpenStream()) return;
    this.#isOffline = false;
    this.#notify(topics);
    this.#save();
  }

  /** The client has not listened since then. @param since in milliseconds since 1970. */
  left(since: number): void {
    this.#awaySince = since;
    this.#save();
  }

  /** The client gets no more changes until it listens. */
  goOffline(): void {
    this.#miss();
    this.#save();
  }

  #miss(): void {
    this.#isOffline = true;
    this.#forgetUnread();
  }

  #forgetUnread(): void {
    this.#unread.clear();
    this.#unreadSince = undefined;
  }

  /** The message is in the log in this same turn; a slow reader is not waited for. */
  #notify(topics: readonly Topic[]): void {
    for (const topic of topics) {
      this.#options.unsolicited.notify(notificationOf(topic)).catch(logUnexpected);
    }
  }

  #save(): void {
    this.#options.save({
      seqs: Object.fromEntries(this.#seqs),
      ...(this.#unread.size === 0 ? {} : { unread: [...this.#unread] }),
      ...(this.#unreadSince === undefined ? {} : { unreadSince: this.#unreadSince }),
      ...(this.#awaySince === undefined ? {} : { awaySince: this.#awaySince }),
      ...(this.#isOffline ? { isParked: true } : {}),
    });
  }
}
